#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_Core.hpp>

void reject(const selvage::Grid<2>& grid, const Kokkos::View<const double**, Kokkos::HostSpace>& view) {
  const selvage::HaloExchange halo(Kokkos::DefaultHostExecutionSpace(), grid, {.width = 1}, view);
}
