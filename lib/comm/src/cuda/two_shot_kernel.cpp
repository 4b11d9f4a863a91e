#include "allreduce_wait.hpp"
#include "allreduce_words.hpp"
#include "launch_chained.hpp"

namespace selvage::detail {
namespace {

/// Packs that a thread has on their way at once: few blocks fill the links.
template <int most_ranks>
inline constexpr int packs_at_once = most_ranks > 4 ? 2 : 4;

/// All loads go out before the first is needed; combined in rank order.
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
      if (rank < program.ranks) store_unit(elements(rank), index, program.count, program.is_aligned, result);
    }
  }
}

/// Between the two meetings nobody but a part's rank touches that part of anybody's elements; blocks of one number
/// meet, and a launch ends when all have.
template <class T, ReduceOperation operation, int most_ranks>
__global__ void __launch_bounds__(most_allreduce_threads)
    two_shot(const __grid_constant__ AllreduceProgram program) {
  begin_chained();
  const std::uint64_t epoch = program.state->epochs[blockIdx.x] + 1;
  // Publishes to the peers: kernels before this one have written this rank's elements, and are done with them.
  if (program.state->failed == 0 && meet(program, program.arrived, epoch)) {
    constexpr std::int64_t width = sizeof(Pack) / sizeof(T);
    const std::int64_t packs = (program.count + width - 1) / width;
    const std::int64_t end = packs * (program.rank + 1) / program.ranks;
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = packs * program.rank / program.ranks +
                          blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
         i < end; i += packs_at_once<most_ranks> * stride)
      reduce_packs<T, operation, most_ranks>(program, i, end, stride);
    // Publishes to the peers: this block's share of this rank's part.
    static_cast<void>(meet(program, program.done, epoch));
  }
  end_chained();
  if (threadIdx.x == 0) program.state->epochs[blockIdx.x] = epoch;
}

struct TwoShot {
  static constexpr std::string_view name = "comm::two_shot";
  template <class T, ReduceOperation operation, int most_ranks>
  [[nodiscard]] static auto kernel() {
    return &two_shot<T, operation, most_ranks>;
  }
};

}  // namespace

AllreduceKernel two_shot_kernel() {
  return kernel_of<TwoShot>();
}

}  // namespace selvage::detail
