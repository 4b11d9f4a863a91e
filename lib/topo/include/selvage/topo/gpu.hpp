#pragma once

#include <selvage/topo/figure.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace selvage::topo {

/// How two GPUs of one host reach each other, the nearest way first.
enum class GpuLevel {
  same_gpu,
  nvlink,        ///< links of their own join them
  nvswitch,      ///< all links of both go to switches, so that each GPU is as near as any other one
  pcie_switch,   ///< one board, or PCIe switches only
  root_complex,  ///< one PCIe host bridge
  numa,          ///< host bridges of one NUMA node
  system,        ///< the link between NUMA nodes or sockets
  unknown,
};

/// What a link of a GPU leads to.
enum class LinkEnd {
  hidden,  ///< the driver doesn't tell, as in many containers
  gpu,
  nvswitch,
  cpu,
};

/// Whether one GPU may use the memory of another one in some way, in the driver's words.
enum class PeerStatus {
  ok,
  chipset_not_supported,
  gpu_not_supported,
  bridge_not_supported,  ///< the PCIe host bridges between the two don't pass it on
  disabled,              ///< by the driver's settings
  not_supported,
  unknown,
};

/// The PCIe part that two GPUs have in common.
enum class CommonAncestor {
  board,
  pcie_switch,
  pcie_switches,  ///< several in a row
  host_bridge,
  numa_node,
  system,
};

[[nodiscard]] std::string_view to_string(GpuLevel level);
[[nodiscard]] std::string_view to_string(LinkEnd end);
[[nodiscard]] std::string_view to_string(PeerStatus status);
[[nodiscard]] std::string_view to_string(CommonAncestor ancestor);

/// One active NVLink of a GPU.
struct NvLink {
  LinkEnd end = LinkEnd::hidden;
  std::string pci_bus_id;   ///< of what it leads to, normalized; empty when not told
  Figure<int> version;      ///< as the driver numbers generations
  Figure<double> gb_per_s;  ///< nominal, one direction, 1e9 bytes/s

  friend bool operator==(const NvLink&, const NvLink&) = default;
};

/// The domain of GPUs, of several hosts where NVLink reaches so far, to which a GPU belongs. GPUs with equal cluster and
/// clique can map each other's memory over it.
struct GpuFabric {
  std::string cluster;  ///< its UUID
  int clique = 0;

  friend bool operator==(const GpuFabric&, const GpuFabric&) = default;
};

/// One GPU of a physical host.
struct Gpu {
  std::string name;
  std::string uuid;        ///< as the driver prints it, "GPU-..."; names the device across hosts
  std::string pci_bus_id;  ///< as normalized_pci_bus_id() writes it, "0000:1b:00.0"
  Figure<std::uint64_t> memory_bytes;
  Figure<int> numa_node;               ///< operating-system index of the nearest NUMA node
  Figure<std::vector<int>> near_cpus;  ///< hardware threads near it, operating-system numbers, ascending
  Figure<std::vector<NvLink>> links;   ///< active ones; known and empty: it has none
  Figure<GpuFabric> fabric;

  friend bool operator==(const Gpu&, const Gpu&) = default;
};

/// What is known between two GPUs of a physical host; the same both ways.
struct GpuPair {
  std::string first;  ///< PCI bus id, the one that comes first in PhysicalHost::gpus
  std::string second;
  GpuLevel level = GpuLevel::unknown;
  int nvlinks = 0;                 ///< that carry bytes between the two: direct ones, or those to switches
  Figure<double> nvlink_gb_per_s;  ///< of these together, nominal, one direction, 1e9 bytes/s
  Figure<CommonAncestor> ancestor;
  Figure<PeerStatus> read;
  Figure<PeerStatus> write;
  Figure<PeerStatus> over_nvlink;
  Figure<PeerStatus> atomics;

  friend bool operator==(const GpuPair&, const GpuPair&) = default;
};

}  // namespace selvage::topo
