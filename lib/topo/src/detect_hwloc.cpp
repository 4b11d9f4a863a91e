#include "records.hpp"

#include <hwloc.h>

#include <memory>

namespace selvage::topo {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, DestroyTopology>;

// The whole host, including what this job's control group may not use.
Topology load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  Topology topology(raw);
  if (hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0) return nullptr;
  if (hwloc_topology_load(raw) != 0) return nullptr;
  return topology;
}

Figure<int> count(hwloc_topology_t topology, hwloc_obj_type_t type) {
  const int number = hwloc_get_nbobjs_by_type(topology, type);
  if (number > 0) return Figure<int>::known(number, Source::hwloc);
  return Figure<int>::unknown(std::string("hwloc shows no ") + hwloc_obj_type_string(type));
}

Figure<std::uint64_t> l3_bytes(hwloc_topology_t topology) {
  std::uint64_t bytes = 0;
  for (hwloc_obj_t cache = nullptr;
       (cache = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_L3CACHE, cache)) != nullptr;) {
    bytes += cache->attr->cache.size;
  }
  if (bytes > 0) return Figure<std::uint64_t>::known(bytes, Source::hwloc);
  return Figure<std::uint64_t>::unknown("hwloc shows no L3 cache size");
}

Figure<std::uint64_t> memory_bytes(hwloc_topology_t topology) {
  const std::uint64_t bytes = hwloc_get_root_obj(topology)->total_memory;
  if (bytes > 0) return Figure<std::uint64_t>::known(bytes, Source::hwloc);
  return Figure<std::uint64_t>::unknown("hwloc shows no memory size");
}

std::vector<int> to_list(hwloc_const_bitmap_t set) {
  std::vector<int> list;
  for (int index = hwloc_bitmap_first(set); index >= 0; index = hwloc_bitmap_next(set, index)) {
    list.push_back(index);
  }
  return list;
}

std::vector<HardwareThread> threads(hwloc_topology_t topology) {
  std::vector<HardwareThread> all;
  for (hwloc_obj_t unit = nullptr;
       (unit = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, unit)) != nullptr;) {
    const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, unit);
    all.push_back({.cpu = static_cast<int>(unit->os_index),
                   .core = static_cast<int>(core != nullptr ? core->logical_index : unit->logical_index),
                   .numa_node = unit->nodeset != nullptr ? hwloc_bitmap_first(unit->nodeset) : -1});
  }
  return all;
}

}  // namespace

HostInventory inventory_from_hwloc() {
  const Topology topology = load_topology();
  if (!topology) return unknown_inventory("hwloc could not load this host's topology");
  hwloc_topology_t raw = topology.get();
  HostInventory inventory;
  inventory.packages = count(raw, HWLOC_OBJ_PACKAGE);
  inventory.cores = count(raw, HWLOC_OBJ_CORE);
  inventory.cpus = count(raw, HWLOC_OBJ_PU);
  inventory.numa_nodes = count(raw, HWLOC_OBJ_NUMANODE);
  inventory.l3_caches = count(raw, HWLOC_OBJ_L3CACHE);
  inventory.l3_bytes = l3_bytes(raw);
  inventory.memory_bytes = memory_bytes(raw);
  inventory.allowed_cpus =
      Figure<std::vector<int>>::known(to_list(hwloc_topology_get_allowed_cpuset(raw)), Source::hwloc);
  inventory.threads = threads(raw);
  return inventory;
}

}  // namespace selvage::topo
