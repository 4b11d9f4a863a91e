#include "nvml.hpp"
#include "records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <fstream>

namespace selvage::topo {
namespace {

Figure<int> numa_node_of_pci_device(const std::string& pci_bus_id) {
  const std::string path = fmt::format("/sys/bus/pci/devices/{}/numa_node", pci_bus_id);
  std::ifstream file(path);
  int node = -1;
  if (!(file >> node)) return Figure<int>::unknown("cannot read " + path);
  if (node < 0) return Figure<int>::unknown(path + " names no node");
  return Figure<int>::known(node, Source::kernel);
}

Gpu gpu_of(const Nvml& nvml, Nvml::Device device) {
  Gpu gpu = nvml.identity(device);
  gpu.memory_bytes = nvml.memory_bytes(device);
  gpu.numa_node = numa_node_of_pci_device(gpu.pci_bus_id);
  gpu.near_cpus = nvml.near_cpus(device);
  gpu.links = nvml.links(device);
  gpu.fabric = nvml.fabric(device);
  return gpu;
}

// Where the kind of a link's end is hidden, its address can still be that of a GPU.
void recognize_gpus(std::vector<Gpu>& gpus) {
  for (Gpu& gpu : gpus) {
    std::vector<NvLink> links = gpu.links.value_or({});
    for (NvLink& link : links) {
      const bool is_gpu = std::ranges::find(gpus, link.pci_bus_id, &Gpu::pci_bus_id) != gpus.end();
      if (link.end == LinkEnd::hidden && is_gpu) link.end = LinkEnd::gpu;
    }
    if (gpu.links.is_known()) gpu.links = Figure<std::vector<NvLink>>::known(std::move(links), Source::nvml);
  }
}

void ask(const Nvml& nvml, Nvml::Device a, Nvml::Device b, GpuPair& pair) {
  pair.ancestor = nvml.common_ancestor(a, b);
  pair.read = nvml.peer_status(a, b, Nvml::Capability::read);
  pair.write = nvml.peer_status(a, b, Nvml::Capability::write);
  pair.over_nvlink = nvml.peer_status(a, b, Nvml::Capability::over_nvlink);
  pair.atomics = nvml.peer_status(a, b, Nvml::Capability::atomics);
}

}  // namespace

GpuInventory gpus_from_nvml(const char* library) {
  try {
    const Nvml nvml(library);
    const std::vector<Nvml::Device> devices = nvml.devices();
    std::vector<Gpu> gpus;
    for (const Nvml::Device device : devices) gpus.push_back(gpu_of(nvml, device));
    recognize_gpus(gpus);
    GpuInventory inventory{.gpus = {}, .pairs = pairs_of(gpus)};
    auto pair = inventory.pairs.begin();
    for (std::size_t a = 0; a < devices.size(); ++a) {
      for (std::size_t b = a + 1; b < devices.size(); ++b) ask(nvml, devices[a], devices[b], *pair++);
    }
    find_levels(gpus, inventory.pairs);
    inventory.gpus = Figure<std::vector<Gpu>>::known(std::move(gpus), Source::nvml);
    return inventory;
  } catch (const std::exception& error) {
    return {.gpus = Figure<std::vector<Gpu>>::unknown(error.what()), .pairs = {}};
  }
}

}  // namespace selvage::topo
