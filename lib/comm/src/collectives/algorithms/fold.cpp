#include "fold.hpp"

#include "reduction_arithmetic.hpp"

#include <algorithm>
#include <array>

namespace selvage::detail {
namespace {

/// Elements combined at a time, few enough for the first-level cache.
constexpr std::int64_t batch = 1024;

template <class T, ReduceOperation operation>
void fold_batch(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                std::int64_t begin, std::int64_t count) {
  std::array<Accumulator<T>, batch> combined;
  const T* first = reinterpret_cast<const T*>(inputs[0]) + begin;
  for (std::int64_t i = 0; i < count; ++i) combined[i] = to_accumulator(first[i]);
  for (const std::byte* input : inputs.subspan(1)) {
    const T* next = reinterpret_cast<const T*>(input) + begin;
    for (std::int64_t i = 0; i < count; ++i)
      combined[i] = combine<operation>(combined[i], to_accumulator(next[i]));
  }
  const int ranks = static_cast<int>(inputs.size());
  for (std::byte* output : outputs) {
    T* result = reinterpret_cast<T*>(output) + begin;
    for (std::int64_t i = 0; i < count; ++i)
      result[i] = from_accumulator<T>(conclude<operation>(combined[i], ranks));
  }
}

}  // namespace

void fold(ElementType type, ReduceOperation operation, std::span<const std::byte* const> inputs,
          std::span<std::byte* const> outputs, std::int64_t count) {
  with_arithmetic(type, operation, [&]<class T, ReduceOperation known>() {
    for (std::int64_t begin = 0; begin < count; begin += batch)
      fold_batch<T, known>(inputs, outputs, begin, std::min(batch, count - begin));
  });
}

ElementType accumulator_type(ElementType type) {
  switch (type) {
    case ElementType::fp16:
    case ElementType::bf16:
      return ElementType::fp32;
    case ElementType::int16:
    case ElementType::uint16:
    case ElementType::int8:
    case ElementType::uint8:
      return ElementType::int32;
    default:
      return type;
  }
}

void fold_on(ElementType type, ReduceOperation operation, std::span<const std::byte* const> inputs,
             bool is_first, std::byte* combined, std::int64_t count) {
  with_arithmetic(type, operation, [&]<class T, ReduceOperation known>() {
    auto* const values = reinterpret_cast<Accumulator<T>*>(combined);
    for (std::int64_t begin = 0; begin < count; begin += batch) {
      const std::int64_t end = std::min(begin + batch, count);
      for (std::size_t rank = 0; rank < inputs.size(); ++rank) {
        const T* const next = reinterpret_cast<const T*>(inputs[rank]);
        if (is_first && rank == 0) {
          for (std::int64_t i = begin; i < end; ++i) values[i] = to_accumulator(next[i]);
        } else {
          for (std::int64_t i = begin; i < end; ++i)
            values[i] = combine<known>(values[i], to_accumulator(next[i]));
        }
      }
    }
  });
}

void conclude_fold(ElementType type, ReduceOperation operation, int ranks, const std::byte* combined,
                   std::byte* output, std::int64_t count) {
  with_arithmetic(type, operation, [&]<class T, ReduceOperation known>() {
    const auto* const values = reinterpret_cast<const Accumulator<T>*>(combined);
    T* const elements = reinterpret_cast<T*>(output);
    for (std::int64_t i = 0; i < count; ++i)
      elements[i] = from_accumulator<T>(conclude<known>(values[i], ranks));
  });
}

}  // namespace selvage::detail
