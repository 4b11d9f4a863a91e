#pragma once

#include "allreduce_words.hpp"

namespace selvage::detail {

/// Packs of each rank that a thread has on their way at once: few blocks fill the links.
template <int most_ranks>
inline constexpr int packs_at_once = 16 / most_ranks;

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

/// Of each rank's pack, in rank order.
template <class T, ReduceOperation operation, int most_ranks>
[[nodiscard]] __device__ Pack combine_packs(const AllreduceProgram& program,
                                            const Pack (&packs)[most_ranks]) {
  Pack result;
#pragma unroll
  for (int w = 0; w < words_per_pack; ++w)
    result.word[w] =
        combine_words<T, operation, most_ranks>(program, [&](int rank) { return packs[rank].word[w]; });
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

/// The end of those of its packs that are aligned and whole.
template <class T>
[[nodiscard]] __device__ std::int64_t whole_end(const AllreduceProgram& program, const PackRun& run) {
  constexpr std::int64_t width = sizeof(Pack) / sizeof(T);
  const std::int64_t whole = program.is_aligned ? program.count / width : 0;
  return run.end < whole ? run.end : whole;
}

/// Visits packs `first`, `first + stride` and so on below `end`, as many at once as may be.
/// \param visit  (first, how many)
/// \return the first pack that isn't below `end`
template <int at_once, class Visit>
__device__ std::int64_t for_whole_packs(std::int64_t first, std::int64_t end, std::int64_t stride,
                                        const Visit& visit) {
  for (; first + (at_once - 1) * stride < end; first += at_once * stride) visit(first, at_once);
  if (first >= end) return first;
  const auto left = static_cast<int>((end - first + stride - 1) / stride);
  visit(first, left);
  return first + left * stride;
}

/// Loads a pack of each rank.
template <class T, int most_ranks>
__device__ void load_pack(const AllreduceProgram& program, std::int64_t index, Pack (&packs)[most_ranks]) {
#pragma unroll
  for (int rank = 0; rank < most_ranks; ++rank) {
    if (rank < program.ranks)
      packs[rank] = load_unit<Pack>(reinterpret_cast<const T*>(program.elements[rank]), index, program.count,
                                    program.is_aligned);
  }
}

/// Combines a pack of all ranks' elements in rank order, and stores it into those of the program's receivers.
template <class T, ReduceOperation operation, int most_ranks>
__device__ void reduce_pack(const AllreduceProgram& program, std::int64_t index) {
  Pack packs[most_ranks];
  load_pack<T>(program, index, packs);
  const Pack result = combine_packs<T, operation>(program, packs);
  for (int rank = 0; rank < program.ranks; ++rank) {
    if (is_receiver(program, rank))
      store_unit(reinterpret_cast<T*>(program.elements[rank]), index, program.count, program.is_aligned,
                 result);
  }
}

/// Loads `count` packs of each rank, at most packs_at_once: `first`, `first + stride` and so on, all aligned and whole. No
/// question stands between loads, which all go out before the first is needed; in place of packs and ranks that there
/// aren't, they fetch what is near.
template <int most_ranks>
__device__ void load_whole_packs(const AllreduceProgram& program, std::int64_t first, std::int64_t stride,
                                 int count, Pack (&packs)[packs_at_once<most_ranks>][most_ranks]) {
#pragma unroll
  for (int rank = 0; rank < most_ranks; ++rank) {
    const auto* const from =
        reinterpret_cast<const Pack*>(program.elements[rank < program.ranks ? rank : program.rank]) + first;
#pragma unroll
    for (int i = 0; i < packs_at_once<most_ranks>; ++i) packs[i][rank] = from[i < count ? i * stride : 0];
  }
}

/// reduce_pack for packs as load_whole_packs has them.
template <class T, ReduceOperation operation, int most_ranks>
__device__ void reduce_whole_packs(const AllreduceProgram& program, std::int64_t first, std::int64_t stride,
                                   int count) {
  constexpr int at_once = packs_at_once<most_ranks>;
  Pack packs[at_once][most_ranks];
  load_whole_packs<most_ranks>(program, first, stride, count, packs);
  Pack results[at_once];
#pragma unroll
  for (int i = 0; i < at_once; ++i) results[i] = combine_packs<T, operation>(program, packs[i]);
#pragma unroll
  for (int rank = 0; rank < most_ranks; ++rank) {
    if (!is_receiver(program, rank)) continue;
    auto* const to = reinterpret_cast<Pack*>(program.elements[rank]) + first;
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      if (i < count) to[i * stride] = results[i];
    }
  }
}

/// All packs of a run, by the threads that `thread` of `threads` is one of.
template <class T, ReduceOperation operation, int most_ranks>
__device__ void reduce_run(const AllreduceProgram& program, const PackRun& run, std::int64_t thread,
                           std::int64_t threads) {
  const auto reduce_whole = [&](std::int64_t first, int count) {
    reduce_whole_packs<T, operation, most_ranks>(program, first, threads, count);
  };
  std::int64_t i = for_whole_packs<packs_at_once<most_ranks>>(run.begin + thread, whole_end<T>(program, run),
                                                              threads, reduce_whole);
  for (; i < run.end; i += threads) reduce_pack<T, operation, most_ranks>(program, i);
}

}  // namespace selvage::detail
