#include "../device.hpp"

#include <Kokkos_Core.hpp>

namespace selvage::detail {

std::string device_pci_bus_id() {
  if (!Kokkos::is_initialized()) return {};
  char text[32] = {};
  const int device = Kokkos::Cuda().cuda_device();
  return cudaDeviceGetPCIBusId(text, sizeof text, device) == cudaSuccess ? text : "";
}

}  // namespace selvage::detail
