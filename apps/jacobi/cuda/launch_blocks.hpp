#pragma once

#include "common/cuda/check.hpp"

#include <Kokkos_Core.hpp>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace selvage::jacobi::cuda {

inline constexpr unsigned block_threads_x = 64;
inline constexpr unsigned block_threads_y = 4;

/// One thread per index (i, j, k), the last two from `first_y` and `first_z` on.
template <class Functor>
__global__ void __launch_bounds__(block_threads_x* block_threads_y)
    block_kernel(const __grid_constant__ Functor functor, std::int64_t first_y, std::int64_t first_z,
                 std::int64_t extent_x, std::int64_t extent_y) {
  const std::int64_t i = blockIdx.x * std::int64_t{block_threads_x} + threadIdx.x;
  const std::int64_t j = first_y + blockIdx.y * std::int64_t{block_threads_y} + threadIdx.y;
  if (i < extent_x && j < extent_y) functor(i, j, first_z + blockIdx.z);
}

/// Enqueues `functor(i, j, k)` for all indices below `extents`; in several launches where a grid can't hold them.
/// A Kokkos::MDRangePolicy, or a loop over blocks in the kernel, costs a sweep up to a fifth of its speed: both
/// take registers, and fewer threads hide less of memory's latency.
/// \throws Error{cuda}
template <class Functor>
void launch_blocks(const Kokkos::Cuda& space, const std::string& label, const Functor& functor,
                   const Kokkos::Array<std::int64_t, 3>& extents) {
  constexpr std::int64_t most_blocks = 65535;
  constexpr std::int64_t most_y = most_blocks * block_threads_y;
  const auto blocks = [](std::int64_t extent, std::int64_t threads) {
    return static_cast<unsigned>((extent + threads - 1) / threads);
  };
  if (extents[0] <= 0) return;
  for (std::int64_t z = 0; z < extents[2]; z += most_blocks) {
    for (std::int64_t y = 0; y < extents[1]; y += most_y) {
      const dim3 grid(blocks(extents[0], block_threads_x),
                      blocks(std::min(extents[1] - y, most_y), block_threads_y),
                      static_cast<unsigned>(std::min(extents[2] - z, most_blocks)));
      block_kernel<<<grid, dim3(block_threads_x, block_threads_y), 0, space.cuda_stream()>>>(
          functor, y, z, extents[0], extents[1]);
    }
  }
  if (const cudaError_t code = cudaGetLastError(); code != cudaSuccess)
    app::check_cuda(code, "launching " + label);
}

}  // namespace selvage::jacobi::cuda
