#pragma once

#include <string>

namespace selvage::detail {

/// The PCI bus id of the GPU that Kokkos uses in this process; empty without a GPU backend.
[[nodiscard]] std::string device_pci_bus_id();

/// Why MPI can't be given device pointers; empty when it says that it takes them.
[[nodiscard]] std::string gpu_aware_mpi_refusal();

}  // namespace selvage::detail
