#pragma once

#include "jacobi/cuda/check.hpp"

#include <Kokkos_Core.hpp>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace selvage::jacobi::cuda {

inline constexpr unsigned block_threads_x = 64;
inline constexpr unsigned block_threads_y = 4;

/// One thread per index (i, j, k).
template <class Functor>
__global__ void __launch_bounds__(block_threads_x* block_threads_y)
    block_kernel(const __grid_constant__ Functor functor, std::int64_t extent_x, std::int64_t extent_y,
                 std::int64_t extent_z) {
  const std::int64_t i = blockIdx.x * std::int64_t{block_threads_x} + threadIdx.x;
  if (i >= extent_x) return;
  const std::int64_t rows = gridDim.y * std::int64_t{block_threads_y};
  for (std::int64_t k = blockIdx.z; k < extent_z; k += gridDim.z) {
    for (std::int64_t j = blockIdx.y * std::int64_t{block_threads_y} + threadIdx.y; j < extent_y; j += rows)
      functor(i, j, k);
  }
}

/// Enqueues `functor(i, j, k)` for all indices below `extents`. A sweep over a Kokkos::MDRangePolicy takes a tenth
/// longer in 2D and a fifth in 3D: its loops over tiles cost registers, and those hide memory's latency.
/// \throws Error{cuda}
template <class Functor>
void launch_blocks(const Kokkos::Cuda& space, const std::string& label, const Functor& functor,
                   const Kokkos::Array<std::int64_t, 3>& extents) {
  constexpr std::int64_t most_blocks = 65535;
  if (extents[0] <= 0 || extents[1] <= 0 || extents[2] <= 0) return;
  const auto blocks = [](std::int64_t extent, std::int64_t threads) {
    return (extent + threads - 1) / threads;
  };
  const dim3 grid(static_cast<unsigned>(blocks(extents[0], block_threads_x)),
                  static_cast<unsigned>(std::min(blocks(extents[1], block_threads_y), most_blocks)),
                  static_cast<unsigned>(std::min(extents[2], most_blocks)));
  block_kernel<<<grid, dim3(block_threads_x, block_threads_y), 0, space.cuda_stream()>>>(
      functor, extents[0], extents[1], extents[2]);
  if (const cudaError_t code = cudaGetLastError(); code != cudaSuccess)
    check_cuda(code, "launching " + label);
}

}  // namespace selvage::jacobi::cuda
