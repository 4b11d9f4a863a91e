#pragma once

#include <cuda_runtime_api.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>
#include <vector>

namespace selvage::test {

/// Collective: whether each rank's current GPU is no other rank's, by what CUDA calls them.
inline bool have_ranks_own_gpus() {
  int device = 0;
  cudaDeviceProp properties{};
  if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceProperties(&properties, device) != cudaSuccess)
    throw std::runtime_error("CUDA can't say which GPU is current");
  using Name = std::array<char, sizeof properties.uuid.bytes>;
  Name own{};
  std::copy_n(properties.uuid.bytes, own.size(), own.begin());
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<Name> all(static_cast<std::size_t>(ranks));
  MPI_Allgather(own.data(), static_cast<int>(own.size()), MPI_CHAR, all.data(), static_cast<int>(own.size()),
                MPI_CHAR, MPI_COMM_WORLD);
  return std::set<Name>(all.begin(), all.end()).size() == all.size();
}

}  // namespace selvage::test
