#pragma once

#include "allreduce_kernels.hpp"
#include "collectives/algorithms/reduction_arithmetic.hpp"

#include <type_traits>

namespace selvage::detail {

/// 8 bytes of elements: what kernels move and combine at a time.
using ElementWord = unsigned long long;
inline constexpr int words_per_pack = 2;
/// 16 bytes, one load or store where elements are aligned.
struct alignas(16) Pack {
  ElementWord word[words_per_pack];
};

template <class T>
struct alignas(sizeof(ElementWord)) WordElements {
  static constexpr int width = static_cast<int>(sizeof(ElementWord) / sizeof(T));
  T element[width];
};

/// A unit is a ElementWord or a Pack. Elements needn't be aligned as units are, and may be fewer in the last.
template <class Unit, class T>
[[nodiscard]] __device__ Unit load_unit(const T* elements, std::int64_t index, std::int64_t count,
                                        bool is_aligned) {
  constexpr int width = static_cast<int>(sizeof(Unit) / sizeof(T));
  const std::int64_t left = count - index * width;
  if (is_aligned && left >= width) return reinterpret_cast<const Unit*>(elements)[index];
  struct alignas(sizeof(Unit)) {
    T element[width];
  } part{};
#pragma unroll
  for (int i = 0; i < width; ++i) {
    if (i < left) part.element[i] = elements[index * width + i];
  }
  return reinterpret_cast<const Unit&>(part);
}
template <class Unit, class T>
__device__ void store_unit(T* elements, std::int64_t index, std::int64_t count, bool is_aligned,
                           const Unit& unit) {
  constexpr int width = static_cast<int>(sizeof(Unit) / sizeof(T));
  const std::int64_t left = count - index * width;
  if (is_aligned && left >= width) {
    reinterpret_cast<Unit*>(elements)[index] = unit;
    return;
  }
  const T* const part = reinterpret_cast<const T*>(&unit);
#pragma unroll
  for (int i = 0; i < width; ++i) {
    if (i < left) elements[index * width + i] = part[i];
  }
}

/// Of each rank's word, in rank order; an average is divided at the end.
/// \param word  gives a rank's
template <class T, ReduceOperation operation, int most_ranks, class WordOf>
[[nodiscard]] __device__ ElementWord combine_words(const AllreduceProgram& program, const WordOf& word) {
  WordElements<T> result;
  Accumulator<T> combined[WordElements<T>::width];
#pragma unroll
  for (int rank = 0; rank < most_ranks; ++rank) {
    if (rank >= program.ranks) continue;
    const ElementWord next = word(rank);
    const auto& elements = reinterpret_cast<const WordElements<T>&>(next);
#pragma unroll
    for (int k = 0; k < WordElements<T>::width; ++k) {
      const auto value = to_accumulator(elements.element[k]);
      combined[k] = rank == 0 ? value : combine<operation>(combined[k], value);
    }
  }
#pragma unroll
  for (int k = 0; k < WordElements<T>::width; ++k) {
    if (operation == ReduceOperation::sum && program.operation == ReduceOperation::average)
      combined[k] = conclude<ReduceOperation::average>(combined[k], program.ranks);
    result.element[k] = from_accumulator<T>(combined[k]);
  }
  return reinterpret_cast<const ElementWord&>(result);
}

/// Types that each kernel is compiled for once, whatever the ranks: the fewer kernels, the sooner a program is built and started.
template <class T>
inline constexpr bool is_rare = std::is_unsigned_v<T> || is_short_integer<T>;

/// Calls `visit.operator()<T, operation, most_ranks>()` for what a program says at run time. An average is a sum that
/// combine_words() divides.
template <class Visit>
void with_kernel_arguments(const AllreduceProgram& program, const Visit& visit) {
  const ReduceOperation operation =
      program.operation == ReduceOperation::average ? ReduceOperation::sum : program.operation;
  with_arithmetic(program.type, operation, [&]<class T, ReduceOperation known>() {
    if constexpr (known != ReduceOperation::average) {
      if constexpr (!is_rare<T>) {
        if (program.ranks <= 2) return visit.template operator()<T, known, 2>();
        if (program.ranks <= 4) return visit.template operator()<T, known, 4>();
      }
      visit.template operator()<T, known, most_allreduce_ranks>();
    }
  });
}

}  // namespace selvage::detail
