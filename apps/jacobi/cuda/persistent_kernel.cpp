#include "common/cuda/check.hpp"
#include "jacobi/cuda/march.hpp"
#include "jacobi/persistent/program.hpp"

#include <cuda/atomic>
#include <cuda_runtime_api.h>

namespace selvage::jacobi {
namespace cuda {
namespace {

constexpr unsigned all_lanes = ~0U;

__device__ __forceinline__ constexpr HaloPort::Towards low_side() {
  return {-1};
}
__device__ __forceinline__ constexpr HaloPort::Towards high_side() {
  return {1};
}

/// One pass over the fields: all tiles take the same number of steps.
struct Pass {
  std::uint64_t epoch;   ///< that tiles have reached before it
  std::uint64_t number;  ///< in this launch, from 1
  int steps;
  int field;  ///< that it writes
  bool measures_change;
};

template <class Real>
__device__ __forceinline__ Tile locate_tile(const PersistentProgram<Real>& program, int index, int lane) {
  using Shape = MarchShape<Real>;
  const Tiling& tiling = program.tiling;
  Tile tile;
  tile.strip = index % tiling.strips;
  tile.chunk = index / tiling.strips;
  const std::int64_t rows = program.rows;
  tile.first_row = static_cast<int>(tile.chunk * rows / tiling.chunks);
  tile.end_row = static_cast<int>((tile.chunk + 1) * rows / tiling.chunks);
  const int first_column = tile.strip * Shape::strip_columns - Shape::halo_columns;
  const int columns_read = Shape::strip_columns + 2 * Shape::halo_columns;
  tile.column = first_column + lane * Shape::cells_per_thread;
  const bool meets_row = (program.beyond_low[0] == nullptr && tile.first_row < Shape::steps) ||
                         (program.beyond_high[0] == nullptr && tile.end_row > program.rows - Shape::steps);
  const bool meets_column = first_column < 0 || first_column + columns_read > program.columns;
  tile.border = meets_row ? Border::rows : meets_column ? Border::columns : Border::none;
  return tile;
}

/// The flag of the tile beside this one that lane 0 to 8 waits for; null for this one and where there is none.
template <class Real>
__device__ __forceinline__ const detail::Flag* flag_beside(const PersistentProgram<Real>& program,
                                                           const Tile& tile, int lane) {
  const int strip = tile.strip + lane % 3 - 1;
  const int chunk = tile.chunk + lane / 3 - 1;
  const bool exists =
      strip >= 0 && strip < program.tiling.strips && chunk >= 0 && chunk < program.tiling.chunks;
  if (lane >= 9 || lane == 4 || !exists) return nullptr;
  return program.tile_flags + chunk * program.tiling.strips + strip;
}

/// False when the time is up or another wait has failed.
template <class Real>
__device__ __forceinline__ bool await_tile(const PersistentProgram<Real>& program, const detail::Flag& flag,
                                           std::uint64_t epoch) {
  constexpr int polls_per_look = 256;
  const ::cuda::atomic_ref<std::uint64_t, ::cuda::thread_scope_device> seen(
      const_cast<std::uint64_t&>(flag.epoch));
  std::uint64_t start = 0;
  while (true) {
    for (int poll = 0; poll < polls_per_look; ++poll) {
      // Acquires the tile's rows of the pass before, and that it is past its reads of what will be overwritten.
      if (detail::has_reached(seen.load(::cuda::memory_order_acquire), epoch)) return true;
    }
    const std::uint64_t now = detail::clock_ns();
    if (start == 0) start = now;
    if (now - start > program.timeout_ns) detail::release_word(program.state->failed, 1);
    if (detail::acquire_word(program.state->failed) != 0) return false;
  }
}

/// Tiles wait for those around them, and for a neighbouring rank where they lie at its side: its tiles there have
/// made the pass before, so this rank's ghosts are filled and that rank's may be overwritten.
template <class Real>
__device__ __forceinline__ bool await_surroundings(const PersistentProgram<Real>& program, const Tile& tile,
                                                   const Pass& pass, int lane) {
  bool arrived = true;
  if (const detail::Flag* flag = flag_beside(program, tile, lane)) {
    arrived = await_tile(program, *flag, pass.epoch);
  }
  const bool is_lowest = tile.chunk == 0;
  const bool is_highest = tile.chunk == program.tiling.chunks - 1;
  if ((lane == 9 && is_lowest) || (lane == 10 && is_highest)) {
    const HaloPort::Towards side = lane == 9 ? low_side() : high_side();
    const HaloPort::Launch turn = program.port.wait_only();
    arrived = turn.await(side, pass.number - 1) && (pass.number > 1 || turn.await_credit(side, 1));
    if (!arrived) detail::release_word(program.state->failed, 1);
  }
  const bool all_arrived = __all_sync(all_lanes, arrived) != 0;
  // Every lane reads what single lanes have acquired.
  __syncwarp();
  return all_arrived;
}

/// Called by one thread after a barrier of its warp.
template <class Real>
__device__ __forceinline__ void publish_tile(const PersistentProgram<Real>& program, const Tile& tile,
                                             const Pass& pass, int index) {
  const ::cuda::atomic_ref<std::uint64_t, ::cuda::thread_scope_device> flag(program.tile_flags[index].epoch);
  // Publishes to the tiles beside this one: its rows of this pass, and that it has read theirs of the one before.
  flag.store(pass.epoch + 1, ::cuda::memory_order_release);
  constexpr std::uint64_t cells = MarchShape<Real>::steps * MarchShape<Real>::strip_columns;
  const HaloPort::Launch turn = program.port.wait_only();
  if (tile.chunk == 0) turn.count(pass.field, low_side(), cells, pass.number);
  if (tile.chunk == program.tiling.chunks - 1) turn.count(pass.field, high_side(), cells, pass.number);
}

template <class Real, bool has_source>
__device__ __forceinline__ double march_tile(const PersistentProgram<Real>& program, const Tile& tile,
                                             const Pass& pass, Pack<Real>* ring) {
  constexpr int steps = MarchShape<Real>::steps;
  if (pass.steps == 1) return march<Real, 1, Border::rows, has_source>(program, tile, pass.field, ring);
  switch (tile.border) {
    case Border::none:
      return march<Real, steps, Border::none, has_source>(program, tile, pass.field, ring);
    case Border::columns:
      return march<Real, steps, Border::columns, has_source>(program, tile, pass.field, ring);
    default:
      return march<Real, steps, Border::rows, has_source>(program, tile, pass.field, ring);
  }
}

__device__ __forceinline__ double sum_over_warp(double value) {
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(all_lanes, value, distance);
  return value;
}

/// \return false after a wait that failed
template <class Real, bool has_source>
__device__ __forceinline__ bool run_pass(const PersistentProgram<Real>& program, const Pass& pass,
                                         Pack<Real>* ring) {
  using Shape = MarchShape<Real>;
  const int lane = static_cast<int>(threadIdx.x) % Shape::warp_threads;
  const int warp = static_cast<int>(blockIdx.x * Shape::warps_per_block + threadIdx.x / Shape::warp_threads);
  const int warps = static_cast<int>(gridDim.x) * Shape::warps_per_block;
  for (int index = warp; index < program.tiling.tiles(); index += warps) {
    const Tile tile = locate_tile(program, index, lane);
    if (!await_surroundings(program, tile, pass, lane)) return false;
    const double change = march_tile<Real, has_source>(program, tile, pass, ring);
    if (pass.measures_change) {
      const double sum = sum_over_warp(change);
      if (lane == 0) program.tile_changes[index] = sum;
    }
    __syncwarp();
    if (lane == 0) publish_tile(program, tile, pass, index);
  }
  return true;
}

/// Always in the same order, whichever block comes last.
template <class Real>
__device__ __forceinline__ void sum_changes(const PersistentProgram<Real>& program) {
  const int lane = static_cast<int>(threadIdx.x);
  if (lane >= MarchShape<Real>::warp_threads) return;
  double sum = 0;
  for (int tile = lane; tile < program.tiling.tiles(); tile += MarchShape<Real>::warp_threads) {
    sum += __ldcg(program.tile_changes + tile);
  }
  sum = sum_over_warp(sum);
  if (lane == 0) program.state->squared_change = sum;
}

/// The last block to come sums up and takes the epochs to where the next launch begins.
template <class Real>
__device__ __forceinline__ void finish_launch(const PersistentProgram<Real>& program,
                                              const PersistentRun& run, const Pass& next) {
  __shared__ bool is_last;
  __syncthreads();
  if (threadIdx.x == 0) is_last = detail::is_last_of(program.state->finished, gridDim.x);
  __syncthreads();
  if (!is_last) return;
  if (run.measures_change) sum_changes(program);
  if (threadIdx.x != 0) return;
  program.state->epoch = next.epoch;
  program.port.wait_only().close_one_of(1, next.number - 1);
}

/// All iterations in one launch whose blocks are all resident. Tiles wait only for the tiles around them, so a warp
/// may be a pass ahead of its neighbours, which the second field allows.
template <class Real, bool has_source>
__global__ void __launch_bounds__(MarchShape<Real>::warps_per_block* MarchShape<Real>::warp_threads, 4)
    persistent_kernel(const __grid_constant__ PersistentProgram<Real> program,
                      const __grid_constant__ PersistentRun run) {
  using Shape = MarchShape<Real>;
  __shared__ Pack<Real> rings[Shape::warps_per_block][Shape::ring_rows * Shape::warp_threads];
  Pack<Real>* const ring = rings[threadIdx.x / Shape::warp_threads] + threadIdx.x % Shape::warp_threads;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    const HaloPort::Launch turn = program.port.wait_only();
    turn.give_credit(low_side(), 1);
    turn.give_credit(high_side(), 1);
  }
  Pass pass{program.state->epoch, 1, 0, 1 - run.from, false};
  // What a launch that failed has left out, later passes would pass for.
  const bool has_failed = detail::load_relaxed(program.state->failed) != 0;
  for (int left = has_failed ? 0 : run.steps; left > 0; left -= pass.steps) {
    const int before_measure = left - (run.measures_change ? 1 : 0);
    pass.steps = before_measure >= Shape::steps ? Shape::steps : 1;
    pass.measures_change = run.measures_change && left == 1;
    if (!run_pass<Real, has_source>(program, pass, ring)) break;
    ++pass.epoch;
    ++pass.number;
    pass.field = 1 - pass.field;
  }
  finish_launch(program, run, pass);
}

template <class Real>
auto kernel_for(bool has_source) {
  return has_source ? persistent_kernel<Real, true> : persistent_kernel<Real, false>;
}

}  // namespace
}  // namespace cuda

template <class Real>
int persistent_blocks_per_multiprocessor(bool has_source) {
  using Shape = MarchShape<Real>;
  int blocks = 0;
  app::check_cuda(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, cuda::kernel_for<Real>(has_source),
                                                    Shape::warps_per_block * Shape::warp_threads, 0),
      "cudaOccupancyMaxActiveBlocksPerMultiprocessor of jacobi::persistent");
  return blocks;
}

template <class Real>
void launch_persistent(const PersistentProgram<Real>& program, const PersistentRun& run, void* stream) {
  using Shape = MarchShape<Real>;
  const auto kernel = cuda::kernel_for<Real>(program.source_x != nullptr);
  kernel<<<static_cast<unsigned>(program.tiling.blocks), Shape::warps_per_block * Shape::warp_threads, 0,
           static_cast<cudaStream_t>(stream)>>>(program, run);
  app::check_cuda(cudaGetLastError(), "launching jacobi::persistent");
}

template int persistent_blocks_per_multiprocessor<float>(bool);
template int persistent_blocks_per_multiprocessor<double>(bool);
template void launch_persistent(const PersistentProgram<float>&, const PersistentRun&, void*);
template void launch_persistent(const PersistentProgram<double>&, const PersistentRun&, void*);

}  // namespace selvage::jacobi
