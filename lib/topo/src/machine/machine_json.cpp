#include "machine_json.hpp"

namespace selvage::topo {
namespace {

void read_pci_bus_id(const JsonValue& from, const char* key, std::string& to) {
  const JsonValue value = from.at(key);
  to = value.text();
  if (normalized_pci_bus_id(to) != to) value.fail("is not a PCI bus id such as 0000:1b:00.0");
}

}  // namespace

Json json_of(const Core& core) {
  return {{"number", json_of(core.number)},
          {"hardware_threads", json_of(core.cpus)},
          {"package", json_of(core.package)},
          {"numa_node", json_of(core.numa_node)},
          {"l3_cache", json_of(core.l3_cache)}};
}

void read(const JsonValue& from, Core& to) {
  read(from, "number", to.number);
  read(from, "hardware_threads", to.cpus);
  read(from, "package", to.package);
  read(from, "numa_node", to.numa_node);
  read(from, "l3_cache", to.l3_cache);
}

Json json_of(const NvLink& link) {
  return {{"end", to_string(link.end)},
          {"pci_bus_id", link.pci_bus_id},
          {"version", json_of(link.version)},
          {"gb_per_s", json_of(link.gb_per_s)}};
}

void read(const JsonValue& from, NvLink& to) {
  read(from, "end", to.end);
  read_pci_bus_id(from, "pci_bus_id", to.pci_bus_id);
  read(from, "version", to.version);
  read(from, "gb_per_s", to.gb_per_s);
}

Json json_of(const GpuFabric& fabric) {
  return {{"cluster", fabric.cluster}, {"clique", fabric.clique}};
}

void read(const JsonValue& from, GpuFabric& to) {
  read(from, "cluster", to.cluster);
  read(from, "clique", to.clique);
}

Json json_of(const Gpu& gpu) {
  return {{"name", gpu.name},
          {"uuid", gpu.uuid},
          {"pci_bus_id", gpu.pci_bus_id},
          {"memory_bytes", json_of(gpu.memory_bytes)},
          {"numa_node", json_of(gpu.numa_node)},
          {"near_hardware_threads", json_of(gpu.near_cpus)},
          {"nvlinks", json_of(gpu.links)},
          {"fabric", json_of(gpu.fabric)}};
}

void read(const JsonValue& from, Gpu& to) {
  read(from, "name", to.name);
  read(from, "uuid", to.uuid);
  read_pci_bus_id(from, "pci_bus_id", to.pci_bus_id);
  read(from, "memory_bytes", to.memory_bytes);
  read(from, "numa_node", to.numa_node);
  read(from, "near_hardware_threads", to.near_cpus);
  read(from, "nvlinks", to.links);
  read(from, "fabric", to.fabric);
}

Json json_of(const GpuPair& pair) {
  return {{"first", pair.first},
          {"second", pair.second},
          {"level", to_string(pair.level)},
          {"nvlinks", pair.nvlinks},
          {"nvlink_gb_per_s", json_of(pair.nvlink_gb_per_s)},
          {"common_ancestor", json_of(pair.ancestor)},
          {"peer_read", json_of(pair.read)},
          {"peer_write", json_of(pair.write)},
          {"peer_over_nvlink", json_of(pair.over_nvlink)},
          {"peer_atomics", json_of(pair.atomics)}};
}

void read(const JsonValue& from, GpuPair& to) {
  read_pci_bus_id(from, "first", to.first);
  read_pci_bus_id(from, "second", to.second);
  read(from, "level", to.level);
  read(from, "nvlinks", to.nvlinks);
  read(from, "nvlink_gb_per_s", to.nvlink_gb_per_s);
  read(from, "common_ancestor", to.ancestor);
  read(from, "peer_read", to.read);
  read(from, "peer_write", to.write);
  read(from, "peer_over_nvlink", to.over_nvlink);
  read(from, "peer_atomics", to.atomics);
}

}  // namespace selvage::topo
