#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_Core.hpp>

/// As Kokkos' spaces for other GPUs, whose headers need their compilers.
struct OtherSpace {
  using execution_space = OtherSpace;
  using memory_space = Kokkos::HostSpace;
};

void reject() {
  const selvage::detail::KokkosExecutor<OtherSpace> executor{OtherSpace()};
}
