#pragma once

#include "records.hpp"

#include <hwloc.h>

#include <memory>
#include <string_view>
#include <vector>

namespace selvage::topo {

struct DestroyTopology {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using HwlocTopology = std::unique_ptr<hwloc_topology, DestroyTopology>;

/// Processors, caches and memory; all figures get one source.
[[nodiscard]] HostInventory inventory_of(hwloc_topology_t topology, Source source);

/// The GPUs in a topology with I/O devices, and their pairs; Source::file.
[[nodiscard]] GpuInventory gpus_of(hwloc_topology_t topology);

[[nodiscard]] std::vector<int> to_list(hwloc_const_bitmap_t set);

}  // namespace selvage::topo
