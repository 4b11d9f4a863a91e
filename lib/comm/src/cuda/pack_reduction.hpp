#pragma once

#include "allreduce_words.hpp"

namespace selvage::detail {

/// Packs that a thread has on their way at once: few blocks fill the links.
template <int most_ranks>
inline constexpr int packs_at_once = most_ranks > 4 ? 2 : 4;

/// A pack's elements while they are being combined.
template <class T>
struct alignas(16) PartialPack {
  static constexpr int width = static_cast<int>(sizeof(Pack) / sizeof(T));
  Accumulator<T> value[width];
};

/// \param asked  what `operation` is part of: an average is a sum that is divided by `ranks`
template <class T, ReduceOperation operation>
[[nodiscard]] __device__ Pack conclude_pack(const PartialPack<T>& partial, ReduceOperation asked, int ranks) {
  Pack result;
  T* const results = reinterpret_cast<T*>(&result);
#pragma unroll
  for (int k = 0; k < PartialPack<T>::width; ++k) {
    auto value = partial.value[k];
    if (operation == ReduceOperation::sum && asked == ReduceOperation::average)
      value = conclude<ReduceOperation::average>(value, ranks);
    results[k] = from_accumulator<T>(value);
  }
  return result;
}

/// The first pack of a run of elements that begins with a pack, and the end of its last.
struct PackRun {
  std::int64_t begin;
  std::int64_t end;
};
template <class T>
[[nodiscard]] __device__ PackRun packs_of(std::int64_t begin, std::int64_t count) {
  constexpr std::int64_t width = sizeof(Pack) / sizeof(T);
  return {begin / width, (begin + count + width - 1) / width};
}

/// Loads packs `first`, `first + stride` and so on below `end` of all ranks' elements, combines them in rank order and
/// stores them into those of the program's receivers. All loads go out before the first is needed.
template <class T, ReduceOperation operation, int most_ranks>
__device__ void reduce_packs(const AllreduceProgram& program, std::int64_t first, std::int64_t end,
                             std::int64_t stride) {
  constexpr int at_once = packs_at_once<most_ranks>;
  Pack packs[at_once][most_ranks];
  const auto elements = [&](int rank) { return reinterpret_cast<T*>(program.elements[rank]); };
#pragma unroll
  for (int i = 0; i < at_once; ++i) {
    const std::int64_t index = first + i * stride;
#pragma unroll
    for (int rank = 0; rank < most_ranks; ++rank) {
      if (rank < program.ranks && index < end)
        packs[i][rank] = load_unit<Pack>(elements(rank), index, program.count, program.is_aligned);
    }
  }
#pragma unroll
  for (int i = 0; i < at_once; ++i) {
    const std::int64_t index = first + i * stride;
    if (index >= end) return;
    Pack result;
#pragma unroll
    for (int w = 0; w < words_per_pack; ++w)
      result.word[w] =
          combine_words<T, operation, most_ranks>(program, [&](int rank) { return packs[i][rank].word[w]; });
#pragma unroll
    for (int rank = 0; rank < most_ranks; ++rank) {
      if (is_receiver(program, rank))
        store_unit(elements(rank), index, program.count, program.is_aligned, result);
    }
  }
}

/// All packs of a run, by the threads that `thread` of `threads` is one of.
template <class T, ReduceOperation operation, int most_ranks>
__device__ void reduce_run(const AllreduceProgram& program, const PackRun& run, std::int64_t thread,
                           std::int64_t threads) {
  for (std::int64_t i = run.begin + thread; i < run.end; i += packs_at_once<most_ranks> * threads)
    reduce_packs<T, operation, most_ranks>(program, i, run.end, threads);
}

}  // namespace selvage::detail
