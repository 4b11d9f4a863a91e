#include "hwloc_topology.hpp"

namespace selvage::topo {
namespace {

// The whole host, including what this job's control group may not use.
HwlocTopology load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  HwlocTopology topology(raw);
  if (hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0) return nullptr;
  if (hwloc_topology_load(raw) != 0) return nullptr;
  return topology;
}

Figure<int> count(hwloc_topology_t topology, hwloc_obj_type_t type, Source source) {
  const int number = hwloc_get_nbobjs_by_type(topology, type);
  if (number > 0) return Figure<int>::known(number, source);
  return Figure<int>::unknown(std::string("hwloc shows no ") + hwloc_obj_type_string(type));
}

Figure<std::uint64_t> l3_bytes(hwloc_topology_t topology, Source source) {
  std::uint64_t bytes = 0;
  for (hwloc_obj_t cache = nullptr;
       (cache = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_L3CACHE, cache)) != nullptr;) {
    bytes += cache->attr->cache.size;
  }
  if (bytes > 0) return Figure<std::uint64_t>::known(bytes, source);
  return Figure<std::uint64_t>::unknown("hwloc shows no L3 cache size");
}

Figure<std::uint64_t> memory_bytes(hwloc_topology_t topology, Source source) {
  const std::uint64_t bytes = hwloc_get_root_obj(topology)->total_memory;
  if (bytes > 0) return Figure<std::uint64_t>::known(bytes, source);
  return Figure<std::uint64_t>::unknown("hwloc shows no memory size");
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

std::optional<int> number_above(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t object) {
  const hwloc_obj_t above = hwloc_get_ancestor_obj_by_type(topology, type, object);
  return above == nullptr ? std::nullopt : std::optional(static_cast<int>(above->logical_index));
}

// In hwloc's order, in which cores that share a cache, then a package, follow each other.
Figure<std::vector<Core>> cores(hwloc_topology_t topology, Source source) {
  std::vector<Core> all;
  int allowed = 0;
  for (hwloc_obj_t core = nullptr;
       (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)) != nullptr;) {
    Core& added = all.emplace_back();
    if (hwloc_bitmap_intersects(core->cpuset, hwloc_topology_get_allowed_cpuset(topology)) != 0)
      added.number = allowed++;
    added.cpus = to_list(core->cpuset);
    added.package = number_above(topology, HWLOC_OBJ_PACKAGE, core);
    added.l3_cache = number_above(topology, HWLOC_OBJ_L3CACHE, core);
    if (core->nodeset != nullptr && hwloc_bitmap_iszero(core->nodeset) == 0)
      added.numa_node = hwloc_bitmap_first(core->nodeset);
  }
  return all.empty() ? Figure<std::vector<Core>>::unknown("hwloc shows no Core")
                     : Figure<std::vector<Core>>::known(std::move(all), source);
}

}  // namespace

std::vector<int> to_list(hwloc_const_bitmap_t set) {
  std::vector<int> list;
  for (int index = hwloc_bitmap_first(set); index >= 0; index = hwloc_bitmap_next(set, index)) {
    list.push_back(index);
  }
  return list;
}

HostInventory inventory_of(hwloc_topology_t topology, Source source) {
  HostInventory inventory;
  inventory.packages = count(topology, HWLOC_OBJ_PACKAGE, source);
  inventory.cores = count(topology, HWLOC_OBJ_CORE, source);
  inventory.cpus = count(topology, HWLOC_OBJ_PU, source);
  inventory.numa_nodes = count(topology, HWLOC_OBJ_NUMANODE, source);
  inventory.l3_caches = count(topology, HWLOC_OBJ_L3CACHE, source);
  inventory.l3_bytes = l3_bytes(topology, source);
  inventory.memory_bytes = memory_bytes(topology, source);
  inventory.core_list = cores(topology, source);
  inventory.allowed_cpus =
      Figure<std::vector<int>>::known(to_list(hwloc_topology_get_allowed_cpuset(topology)), source);
  inventory.threads = threads(topology);
  return inventory;
}

HostInventory inventory_from_hwloc() {
  const HwlocTopology topology = load_topology();
  return topology ? inventory_of(topology.get(), Source::hwloc)
                  : unknown_inventory("hwloc could not load this host's topology");
}

}  // namespace selvage::topo
