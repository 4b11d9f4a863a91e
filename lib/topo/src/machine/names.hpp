#pragma once

#include "text/named_enum.hpp"

#include <selvage/topo/gpu.hpp>

#include <array>
#include <string_view>

namespace selvage::topo {

// The names of an enumeration's values, in their order. They stand in files: a change is a new format.

inline constexpr auto names_of(Source) {
  return std::to_array<std::string_view>(
      {"none", "hwloc", "nvml", "mpi", "kernel", "environment", "caller", "file", "probe"});
}

inline constexpr auto names_of(GpuLevel) {
  return std::to_array<std::string_view>(
      {"same_gpu", "nvlink", "nvswitch", "pcie_switch", "root_complex", "numa", "system", "unknown"});
}

inline constexpr auto names_of(LinkEnd) {
  return std::to_array<std::string_view>({"hidden", "gpu", "nvswitch", "cpu"});
}

inline constexpr auto names_of(PeerStatus) {
  return std::to_array<std::string_view>({"ok", "chipset_not_supported", "gpu_not_supported",
                                          "bridge_not_supported", "disabled", "not_supported", "unknown"});
}

inline constexpr auto names_of(CommonAncestor) {
  return std::to_array<std::string_view>(
      {"board", "pcie_switch", "pcie_switches", "host_bridge", "numa_node", "system"});
}

}  // namespace selvage::topo
