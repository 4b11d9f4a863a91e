#include "allreduce_wait.hpp"
#include "launch_chained.hpp"
#include "pack_reduction.hpp"

namespace selvage::detail {
namespace {

/// Waits until all ranks' kernels, this one's too, have published a tile that this rank combines. Called by all threads;
/// acquires for all of them.
__device__ bool await_tile(const AllreduceProgram& program, std::int64_t own_tile, std::uint64_t epoch) {
  bool met = true;
  const int from = static_cast<int>(threadIdx.x);
  if (from < program.ranks) {
    const Flag& flag = program.published[own_tile * program.ranks + from];
    met = poll<AloneVote>(
        program, [&] { return has_reached(acquire_epoch(flag), epoch); },
        [&] { report_late(program, from, epoch, acquire_epoch(flag)); });
  }
  return __syncthreads_and(met) != 0;
}

/// Nobody but a tile's rank touches its elements between their flags and the meeting, after which all tiles of all ranks
/// are combined. So the last block of a launch knows that all of this rank's flags have been read.
template <class T, ReduceOperation operation, int most_ranks>
__global__ void __launch_bounds__(most_allreduce_threads)
    combine_tiles(const __grid_constant__ AllreduceProgram program) {
  begin_chained();
  const std::uint64_t epoch = program.state->epochs[blockIdx.x] + 1;
  const std::int64_t tiles = (program.count + program.tile_elements - 1) / program.tile_elements;
  bool met = program.state->failed == 0;
  for (std::int64_t own = blockIdx.x; met; own += gridDim.x) {
    const std::int64_t tile = own * program.ranks + program.rank;
    if (tile >= tiles) break;
    met = await_tile(program, own, epoch);
    const std::int64_t begin = tile * program.tile_elements;
    const std::int64_t left = program.count - begin;
    const std::int64_t count = left < program.tile_elements ? left : program.tile_elements;
    if (met)
      reduce_run<T, operation, most_ranks>(program, packs_of<T>(begin, count), threadIdx.x, blockDim.x);
  }
  // Publishes to the peers: this block's tiles, in their elements.
  if (met) static_cast<void>(meet(program, program.done, epoch));
  end_chained();
  if (threadIdx.x != 0) return;
  program.state->epochs[blockIdx.x] = epoch;
  if (is_last_of(program.state->closed, gridDim.x)) program.state->finished = epoch;
}

struct CombineTiles {
  static constexpr std::string_view name = "comm::combine_tiles";
  template <class T, ReduceOperation operation, int most_ranks>
  [[nodiscard]] static auto kernel() {
    return &combine_tiles<T, operation, most_ranks>;
  }
};

}  // namespace

AllreduceKernel tiles_kernel() {
  return kernel_of<CombineTiles>();
}

}  // namespace selvage::detail
