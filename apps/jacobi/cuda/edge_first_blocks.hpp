#pragma once

#include "jacobi/cuda/block_sweep.hpp"

#include <selvage/comm/halo_port.hpp>

#include <algorithm>
#include <cstdint>

namespace selvage::jacobi::cuda {

/// One sweep in one kernel that sends its own boundary, in blocks of launch_blocks()' shape: the grid's first
/// slices along z are for the edge tiles, a block each, and the others the interior, whose blocks do what they
/// do in a plain sweep and nothing else.
///
/// Edge tiles are swept by many blocks and sent by few: of each group, the last to have swept its tile sends all.
/// Stores to neighbours come back-pressured by the links, and stall whatever else their multiprocessor does; and
/// a flag's release waits for them, once per group.
template <class Real, class Stencil, bool has_source, int along_x>
struct EdgeFirstBlocks {
  static constexpr int D = Stencil::dimensions;
  using StencilType = Stencil;
  using Sweep = jacobi::detail::BlockSweep<Real, Stencil, has_source, along_x>;

  HaloPort port;
  int view;  ///< the port's number of the field that is written
  CellRange<D> own;
  const CellRange<D>* tiles;  ///< device memory
  unsigned tile_count;
  unsigned* swept;  ///< device memory: of each group, the tiles that are; 0 between launches
  Sweep interior;
  unsigned group = 1;  ///< edge tiles that one block sends

  /// As many as the interior leaves time for.
  [[nodiscard]] unsigned best_group() const {
    constexpr std::int64_t interior_blocks_per_tile = 4096;
    constexpr std::int64_t most_tiles = 16;
    const auto extents = interior.extents();
    const std::int64_t interior_blocks = extents[0] * extents[1] * extents[2] / threads;
    return static_cast<unsigned>(
        std::clamp<std::int64_t>(interior_blocks / interior_blocks_per_tile, 1, most_tiles));
  }

  /// By all threads of the block of edge tile `place`.
  __device__ __noinline__ void sweep_edge(unsigned place) const {
    const unsigned thread = threadIdx.x + threadIdx.y * block_threads_x;
    const HaloPort::Turn turn = port.at_rest();
    // One thread per direction.
    const Towards towards = direction(thread);
    const bool has_direction = thread < directions && port.has_neighbour(towards);
    if (place == 0 && has_direction) turn.give_credit(towards, 1);
    const bool has_ghosts = !has_direction || turn.await(towards, 0);
    if (__syncthreads_and(has_ghosts) != 0) sweep_cells(tiles[place], thread);
    __syncthreads();
    const unsigned first = place - place % group;
    const unsigned end = min(first + group, tile_count);
    if (__syncthreads_or(thread == 0 && is_last_of(swept[place / group], end - first)) != 0)
      send(turn, first, end, thread);
  }

 private:
  static constexpr unsigned directions = 27;
  static constexpr unsigned threads = block_threads_x * block_threads_y;

  __device__ static Towards direction(unsigned code) {
    return {static_cast<int>(code % 3) - 1, static_cast<int>(code / 3 % 3) - 1,
            static_cast<int>(code / 9) - 1};
  }

  /// Publishes the cells of this block's tile, and to the last of `all` blocks those of the others. The counter is 0
  /// again after it.
  __device__ static bool is_last_of(unsigned& counter, unsigned all) {
    __threadfence();
    const bool is_last = atomicInc(&counter, all - 1) == all - 1;
    __threadfence();
    return is_last;
  }

  /// Stores the tiles' cells into neighbours' ghosts, and fires the directions that this completes.
  __device__ void send(const HaloPort::Turn& turn, unsigned first, unsigned end, unsigned thread) const {
    const Towards towards = direction(thread);
    const bool has_direction = thread < directions && port.has_neighbour(towards);
    // Its tiles were swept by others, who may have waited in vain.
    const bool may_send = !has_direction || (turn.await(towards, 0) && turn.await_credit(towards, 1));
    if (__syncthreads_and(may_send) != 0) {
      std::uint32_t cells = 0;
      for (unsigned place = first; place < end; ++place) {
        const CellRange<D> tile = tiles[place];
        for (unsigned code = 0; code < directions; ++code) store(tile, direction(code), thread);
        if (has_direction) cells += count(kept(tile, towards));
      }
      __syncthreads();
      if (has_direction) turn.count(view, towards, cells, 1);
    }
    if (thread == 0) turn.close_one_of((tile_count + group - 1) / group, 1);
  }

  __device__ void sweep_cells(const CellRange<D>& tile, unsigned thread) const {
    const Sweep sweep{interior.fields, tile};
    const auto extents = sweep.extents();
    const auto along = static_cast<std::uint32_t>(extents[0]);
    const auto across = static_cast<std::uint32_t>(extents[1]);
    for (std::uint32_t i = thread; i < along * across * static_cast<std::uint32_t>(extents[2]); i += threads)
      sweep(i % along, i / along % across, i / along / across);
  }

  /// The cells of a tile that the neighbour in a direction keeps. Ghosts are one cell wide.
  __device__ CellRange<D> kept(const CellRange<D>& tile, Towards towards) const {
    const int steps[3] = {towards.axis0, towards.axis1, towards.axis2};
    CellRange<D> result = tile;
#pragma unroll
    for (int axis = 0; axis < D; ++axis) {
      const std::int64_t side = steps[axis] < 0 ? own.begin[axis] : own.begin[axis] + own.extent[axis] - 1;
      if (steps[axis] == 0) continue;
      const bool has_side = side >= tile.begin[axis] && side < tile.begin[axis] + tile.extent[axis];
      result.begin[axis] = side;
      result.extent[axis] = has_side ? 1 : 0;
    }
    return result;
  }
  __device__ static std::uint32_t count(const CellRange<D>& range) {
    return static_cast<std::uint32_t>(range.rows() * range.extent[D - 1]);
  }

  /// Stores the cells that a neighbour keeps into its ghosts.
  __device__ void store(const CellRange<D>& tile, Towards towards, unsigned thread) const {
    if (!port.has_neighbour(towards)) return;
    const CellRange<D> range = kept(tile, towards);
    const std::uint32_t cells = count(range);
    if (cells == 0) return;
    const RemoteGhosts<Real> ghosts = port.remote_ghosts<Real>(view, towards);
    const auto& fields = interior.fields;
    const auto along = static_cast<std::uint32_t>(range.extent[D - 1]);
#pragma unroll 4
    for (std::uint32_t i = thread; i < cells; i += threads) {
      const std::int64_t x = range.begin[D - 1] + i % along;
      if constexpr (D == 2) {
        const std::int64_t y = range.begin[0] + i / along;
        ghosts(y, x) = fields.to[y * fields.stride.y + x];
      } else {
        const auto rows = static_cast<std::uint32_t>(range.extent[1]);
        const std::int64_t y = range.begin[1] + i / along % rows;
        const std::int64_t z = range.begin[0] + i / along / rows;
        ghosts(z, y, x) = fields.to[z * fields.stride.z + y * fields.stride.y + x];
      }
    }
  }
};

/// The plain sweep of the 7-point star needs 32 registers, so that 8 blocks are resident; here that has to be asked
/// for, at the cost of the few edge tiles. Those of the others need no more than their plain sweep does.
template <class Stencil>
inline constexpr int resident_blocks = Stencil::points == 7 ? 8 : 1;

template <class Blocks>
__global__ void __launch_bounds__(block_threads_x* block_threads_y,
                                  resident_blocks<typename Blocks::StencilType>)
    edge_first_kernel(const __grid_constant__ Blocks blocks, unsigned edge_slices, std::int64_t extent_x,
                      std::int64_t extent_y) {
  if (blockIdx.z < edge_slices) {
    const unsigned place = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    if (place < blocks.tile_count) blocks.sweep_edge(place);
    return;
  }
  const std::int64_t i = blockIdx.x * std::int64_t{block_threads_x} + threadIdx.x;
  const std::int64_t j = blockIdx.y * std::int64_t{block_threads_y} + threadIdx.y;
  if (i < extent_x && j < extent_y) blocks.interior(i, j, blockIdx.z - edge_slices);
}

/// Enqueues the sweep. \return false, and nothing is done, where a grid can't hold it
/// \throws Error{cuda}
template <class Blocks>
[[nodiscard]] bool launch_edge_first(const Kokkos::Cuda& space, const std::string& label, Blocks blocks) {
  constexpr std::int64_t most = 65535;
  const auto extents = blocks.interior.extents();
  const auto count = [](std::int64_t extent, std::int64_t threads) {
    return std::max<std::int64_t>(1, (extent + threads - 1) / threads);
  };
  const std::int64_t along = count(extents[0], block_threads_x);
  const std::int64_t across = count(extents[1], block_threads_y);
  blocks.group = blocks.best_group();
  const std::int64_t edge_slices = count(blocks.tile_count, along * across);
  if (across > most || edge_slices + extents[2] > most) return false;
  const dim3 grid(static_cast<unsigned>(along), static_cast<unsigned>(across),
                  static_cast<unsigned>(edge_slices + extents[2]));
  edge_first_kernel<<<grid, dim3(block_threads_x, block_threads_y), 0, space.cuda_stream()>>>(
      blocks, static_cast<unsigned>(edge_slices), extents[0], extents[1]);
  if (const cudaError_t code = cudaGetLastError(); code != cudaSuccess)
    check_cuda(code, "launching " + label);
  return true;
}

}  // namespace selvage::jacobi::cuda
