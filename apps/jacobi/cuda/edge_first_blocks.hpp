#pragma once

#include "jacobi/cuda/block_sweep.hpp"

#include <selvage/comm/halo_port.hpp>

#include <algorithm>
#include <cstdint>

namespace selvage::jacobi::cuda {

/// One sweep in one kernel that sends its own boundary, in blocks of launch_blocks()' shape: the grid's first
/// slices along z are for the edge tiles, and the others the interior, whose blocks do what they do in a
/// plain sweep and nothing else.
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
  Sweep interior;

  /// Edge tiles of one block. More where the interior takes long enough to hide them: a block waits for ghosts, and
  /// for its stores to arrive, once, and keeps a place from the interior meanwhile.
  static constexpr unsigned most_tiles = 4;
  [[nodiscard]] unsigned tiles_each() const {
    constexpr std::int64_t interior_blocks_per_tile = 4096;
    const auto extents = interior.extents();
    const std::int64_t interior_blocks = extents[0] * extents[1] * extents[2] / threads;
    return static_cast<unsigned>(
        std::clamp<std::int64_t>(interior_blocks / interior_blocks_per_tile, 1, most_tiles));
  }
  [[nodiscard]] unsigned senders() const { return (tile_count + tiles_each() - 1) / tiles_each(); }

  /// By all threads of sender `place` of `senders`.
  __device__ __forceinline__ void sweep_edges(unsigned place, unsigned senders) const {
    // What is the same for all threads: registers are scarce.
    __shared__ CellRange<D> own_tiles[most_tiles];
    const unsigned thread = threadIdx.x + threadIdx.y * block_threads_x;
    const unsigned own_count = (tile_count - place + senders - 1) / senders;
    if (thread < own_count) own_tiles[thread] = tiles[place + thread * senders];
    const HaloPort::Launch turn = port.wait_only();
    // One thread per direction.
    const HaloPort::Towards towards = direction(thread);
    const bool has_direction = thread < directions && port.has_neighbour(towards);
    if (place == 0 && has_direction) turn.give_credit(towards, 1);
    // After a failure ghosts may still come, but those of the sweeps between won't.
    const bool is_free =
        !has_direction || (!port.has_failed() && turn.await(towards, 0) && turn.await_credit(towards, 1));
    if (__syncthreads_and(is_free) != 0) {
      for (unsigned i = 0; i < own_count; ++i) sweep_cells(own_tiles[i], thread);
      __syncthreads();
#pragma unroll 1
      for (unsigned code = 0; code < directions; ++code) {
        if (!port.has_neighbour(direction(code))) continue;
        const HaloPort::Ghosts<Real> ghosts = port.remote_ghosts<Real>(view, direction(code));
        for (unsigned i = 0; i < own_count; ++i) store(kept(own_tiles[i], direction(code)), ghosts, thread);
      }
      std::uint32_t cells = 0;
      for (unsigned i = 0; i < own_count && has_direction; ++i) cells += count(kept(own_tiles[i], towards));
      __syncthreads();
      if (has_direction) turn.count(view, towards, cells, 1);
    }
    if (thread == 0) turn.close_one_of(senders, 1);
  }

 private:
  static constexpr unsigned directions = 27;
  static constexpr unsigned threads = block_threads_x * block_threads_y;

  __device__ static HaloPort::Towards direction(unsigned code) {
    return {static_cast<int>(code % 3) - 1, static_cast<int>(code / 3 % 3) - 1,
            static_cast<int>(code / 9) - 1};
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
  __device__ CellRange<D> kept(const CellRange<D>& tile, HaloPort::Towards towards) const {
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

  /// Stores cells into a neighbour's ghosts.
  __device__ void store(const CellRange<D>& range, const HaloPort::Ghosts<Real>& ghosts,
                        unsigned thread) const {
    const std::uint32_t cells = count(range);
    // The loads of a batch before its stores: the compiler can't know that they may pass each other.
    constexpr unsigned batch = 4;
    for (std::uint32_t first = thread; first < cells; first += batch * threads) {
      Real values[batch];
#pragma unroll
      for (unsigned k = 0; k < batch; ++k) {
        const std::uint32_t place = first + k * threads;
        if (place < cells) values[k] = interior.fields.to[offset(index_in(range, place))];
      }
#pragma unroll
      for (unsigned k = 0; k < batch; ++k) {
        const std::uint32_t place = first + k * threads;
        if (place >= cells) continue;
        const auto index = index_in(range, place);
        if constexpr (D == 2) {
          ghosts(index[0], index[1]) = values[k];
        } else {
          ghosts(index[0], index[1], index[2]) = values[k];
        }
      }
    }
  }

  /// Of the cell that is number `place` of a range.
  __device__ static Kokkos::Array<std::int64_t, D> index_in(const CellRange<D>& range, std::uint32_t place) {
    Kokkos::Array<std::int64_t, D> index;
#pragma unroll
    for (int axis = D - 1; axis >= 0; --axis) {
      const auto extent = static_cast<std::uint32_t>(range.extent[axis]);
      index[axis] = range.begin[axis] + place % extent;
      place /= extent;
    }
    return index;
  }
  __device__ std::ptrdiff_t offset(const Kokkos::Array<std::int64_t, D>& index) const {
    const auto& stride = interior.fields.stride;
    if constexpr (D == 2) return index[0] * stride.y + index[1];
    if constexpr (D == 3) return index[0] * stride.z + index[1] * stride.y + index[2];
  }
};

/// The plain sweep of the 7-point star needs 32 registers, so that 8 blocks are resident; here that has to be asked
/// for, at the cost of the few edge tiles. Those of the others need no more than their plain sweep does.
template <class Stencil>
inline constexpr int resident_blocks = Stencil::points == 7 ? 8 : 1;

template <class Blocks>
__global__ void __launch_bounds__(block_threads_x* block_threads_y,
                                  resident_blocks<typename Blocks::StencilType>)
    edge_first_kernel(const __grid_constant__ Blocks blocks, unsigned senders, unsigned edge_slices,
                      std::int64_t extent_x, std::int64_t extent_y) {
  if (blockIdx.z < edge_slices) {
    const unsigned place = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    if (place < senders) blocks.sweep_edges(place, senders);
    return;
  }
  const std::int64_t i = blockIdx.x * std::int64_t{block_threads_x} + threadIdx.x;
  const std::int64_t j = blockIdx.y * std::int64_t{block_threads_y} + threadIdx.y;
  if (i < extent_x && j < extent_y) blocks.interior(i, j, blockIdx.z - edge_slices);
}

/// Enqueues the sweep. \return false, and nothing is done, where a grid can't hold it
/// \throws Error{cuda}
template <class Blocks>
[[nodiscard]] bool launch_edge_first(const Kokkos::Cuda& space, const std::string& label,
                                     const Blocks& blocks) {
  constexpr std::int64_t most = 65535;
  const auto extents = blocks.interior.extents();
  const auto count = [](std::int64_t extent, std::int64_t threads) {
    return std::max<std::int64_t>(1, (extent + threads - 1) / threads);
  };
  const std::int64_t along = count(extents[0], block_threads_x);
  const std::int64_t across = count(extents[1], block_threads_y);
  const unsigned senders = blocks.senders();
  const std::int64_t edge_slices = count(senders, along * across);
  if (across > most || edge_slices + extents[2] > most) return false;
  const dim3 grid(static_cast<unsigned>(along), static_cast<unsigned>(across),
                  static_cast<unsigned>(edge_slices + extents[2]));
  edge_first_kernel<<<grid, dim3(block_threads_x, block_threads_y), 0, space.cuda_stream()>>>(
      blocks, senders, static_cast<unsigned>(edge_slices), extents[0], extents[1]);
  if (const cudaError_t code = cudaGetLastError(); code != cudaSuccess)
    app::check_cuda(code, "launching " + label);
  return true;
}

}  // namespace selvage::jacobi::cuda
