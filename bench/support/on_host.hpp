#pragma once

#include <Kokkos_Core.hpp>

namespace selvage::bench {

/// Whether kernels of the default execution space, which benchmarks measure, run on this host.
inline constexpr bool on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, Kokkos::DefaultExecutionSpace::memory_space>::accessible;

}  // namespace selvage::bench
