#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_Core.hpp>

#include <string>

void reject(const selvage::Grid<2>& grid, const Kokkos::View<std::string**, Kokkos::HostSpace>& view) {
  const selvage::HaloExchange halo(Kokkos::DefaultHostExecutionSpace(), grid, {.width = 1}, view);
}
