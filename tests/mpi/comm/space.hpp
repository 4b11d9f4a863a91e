#pragma once

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <cstdint>

namespace selvage::test {

using Space = Kokkos::DefaultExecutionSpace;
inline constexpr bool on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space::memory_space>::accessible;

/// Bytes of what flags and messages in windows consist of.
inline constexpr std::uint64_t word = sizeof(std::uint64_t);

/// Collective: the sum of all ranks' counts.
inline int on_all_ranks(int count) {
  int total = 0;
  MPI_Allreduce(&count, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return total;
}

}  // namespace selvage::test
