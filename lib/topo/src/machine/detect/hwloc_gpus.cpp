#include "hwloc_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace selvage::topo {
namespace {

constexpr const char* not_told = "the file doesn't tell";

bool is_gpu_device(hwloc_obj_t device) {
  const auto type = device->attr->osdev.type;
  return type == HWLOC_OBJ_OSDEV_GPU || type == HWLOC_OBJ_OSDEV_COPROC;
}

/// The devices under a PCI device by which the operating system or drivers know it.
std::vector<hwloc_obj_t> os_devices(hwloc_obj_t pci) {
  std::vector<hwloc_obj_t> devices;
  for (hwloc_obj_t child = pci->io_first_child; child != nullptr; child = child->next_sibling) {
    if (child->type == HWLOC_OBJ_OS_DEVICE) devices.push_back(child);
  }
  return devices;
}

/// A 3D controller, or a device that a driver for GPUs knows. Boards for a screen alone have the class of a VGA controller
/// and at most a device of the kind "card0".
bool is_gpu(hwloc_obj_t pci) {
  constexpr unsigned controller_3d = 0x0302;
  if (pci->attr->pcidev.class_id == controller_3d) return true;
  return std::ranges::any_of(os_devices(pci), [](hwloc_obj_t device) {
    const bool is_screen = device->name != nullptr && std::string_view(device->name).starts_with("card");
    return is_gpu_device(device) && !is_screen;
  });
}

std::string bus_id(const hwloc_obj_attr_u::hwloc_pcidev_attr_s& pci) {
  return normalized_pci_bus_id(fmt::format("{:04x}:{:02x}:{:02x}.{:x}", static_cast<unsigned>(pci.domain),
                                           static_cast<unsigned>(pci.bus), static_cast<unsigned>(pci.dev),
                                           static_cast<unsigned>(pci.func)));
}

/// What a PCI device, or one of its OS devices, carries under one of these names.
std::string info(hwloc_obj_t pci, std::initializer_list<const char*> names) {
  std::vector<hwloc_obj_t> objects = os_devices(pci);
  objects.push_back(pci);
  for (const char* name : names) {
    for (const hwloc_obj_t object : objects) {
      const char* value = hwloc_obj_get_info_by_name(object, name);
      if (value != nullptr && *value != 0) return value;
    }
  }
  return {};
}

/// hwloc writes it in KiB.
Figure<std::uint64_t> memory_bytes(hwloc_obj_t pci) {
  const std::string text = info(pci, {"CUDAGlobalMemorySize", "RSMIVRAMSize"});
  std::uint64_t kib = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), kib);
  constexpr std::uint64_t most = UINT64_MAX >> 10;
  if (error != std::errc() || end != text.data() + text.size() || kib > most)
    return Figure<std::uint64_t>::unknown(not_told);
  return Figure<std::uint64_t>::known(kib << 10, Source::file);
}

Gpu gpu_of(hwloc_topology_t topology, hwloc_obj_t pci) {
  Gpu gpu;
  gpu.pci_bus_id = bus_id(pci->attr->pcidev);
  gpu.name = info(pci, {"GPUModel", "PCIDevice"});
  if (gpu.name.empty()) gpu.name = "GPU";
  gpu.uuid = info(pci, {"NVIDIAUUID", "AMDUUID"});
  gpu.memory_bytes = memory_bytes(pci);
  gpu.numa_node = Figure<int>::unknown(not_told);
  gpu.near_cpus = Figure<std::vector<int>>::unknown(not_told);
  const hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(topology, pci);
  if (near != nullptr && near->cpuset != nullptr && !hwloc_bitmap_iszero(near->cpuset))
    gpu.near_cpus = Figure<std::vector<int>>::known(to_list(near->cpuset), Source::file);
  if (near != nullptr && near->nodeset != nullptr && hwloc_bitmap_weight(near->nodeset) == 1)
    gpu.numa_node = Figure<int>::known(hwloc_bitmap_first(near->nodeset), Source::file);
  gpu.fabric = Figure<GpuFabric>::unknown(not_told);
  return gpu;
}

CommonAncestor common_ancestor(hwloc_obj_t a, hwloc_obj_t b) {
  std::vector<hwloc_obj_t> above;
  for (hwloc_obj_t up = a->parent; up != nullptr; up = up->parent) above.push_back(up);
  hwloc_obj_t common = b->parent;
  while (common != nullptr && std::ranges::find(above, common) == above.end()) common = common->parent;
  if (common == nullptr) return CommonAncestor::system;
  if (common->type == HWLOC_OBJ_BRIDGE) {
    const bool is_host_bridge = common->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST;
    return is_host_bridge ? CommonAncestor::host_bridge : CommonAncestor::pcie_switch;
  }
  const bool is_one_node = common->nodeset != nullptr && hwloc_bitmap_weight(common->nodeset) == 1;
  return is_one_node ? CommonAncestor::numa_node : CommonAncestor::system;
}

hwloc_obj_t pci_of(hwloc_obj_t object) {
  while (object != nullptr && object->type != HWLOC_OBJ_PCI_DEVICE) object = object->parent;
  return object;
}

struct ReleaseDistances {
  hwloc_topology_t topology;
  void operator()(hwloc_distances_s* distances) const { hwloc_distances_release(topology, distances); }
};

/// Entries of hwloc's matrix are MB/s of all links from its row's device to its column's.
void add_links(hwloc_topology_t topology, std::vector<Gpu>& gpus) {
  unsigned count = 1;
  hwloc_distances_s* raw = nullptr;
  if (hwloc_distances_get_by_name(topology, "NVLinkBandwidth", &count, &raw, 0) != 0 || count == 0) {
    for (Gpu& gpu : gpus)
      gpu.links = Figure<std::vector<NvLink>>::unknown("the file has no bandwidths of NVLinks");
    return;
  }
  const std::unique_ptr<hwloc_distances_s, ReleaseDistances> distances(raw, {topology});
  const auto row_of = [&](unsigned i) {
    const hwloc_obj_t pci = pci_of(distances->objs[i]);
    return pci == nullptr ? gpus.end() : std::ranges::find(gpus, bus_id(pci->attr->pcidev), &Gpu::pci_bus_id);
  };
  std::vector<std::vector<NvLink>> links(gpus.size());
  for (unsigned from = 0; from < distances->nbobjs; ++from) {
    const auto gpu = row_of(from);
    for (unsigned to = 0; to < distances->nbobjs && gpu != gpus.end(); ++to) {
      const hwloc_uint64_t mb_per_s = distances->values[from * distances->nbobjs + to];
      const hwloc_obj_t end = pci_of(distances->objs[to]);
      if (from == to || mb_per_s == 0) continue;
      NvLink link;
      link.pci_bus_id = end == nullptr ? "" : bus_id(end->attr->pcidev);
      link.end = row_of(to) != gpus.end() ? LinkEnd::gpu : end == nullptr ? LinkEnd::cpu : LinkEnd::nvswitch;
      link.version = Figure<int>::unknown(not_told);
      link.gb_per_s = Figure<double>::known(static_cast<double>(mb_per_s) / 1000, Source::file);
      links[static_cast<std::size_t>(gpu - gpus.begin())].push_back(link);
    }
  }
  for (std::size_t i = 0; i < gpus.size(); ++i)
    gpus[i].links = Figure<std::vector<NvLink>>::known(std::move(links[i]), Source::file);
}

}  // namespace

GpuInventory gpus_of(hwloc_topology_t topology) {
  std::vector<hwloc_obj_t> devices;
  std::vector<Gpu> gpus;
  for (hwloc_obj_t pci = nullptr; (pci = hwloc_get_next_pcidev(topology, pci)) != nullptr;) {
    if (!is_gpu(pci)) continue;
    devices.push_back(pci);
    gpus.push_back(gpu_of(topology, pci));
  }
  add_links(topology, gpus);
  GpuInventory inventory{.gpus = {}, .pairs = pairs_of(gpus)};
  auto pair = inventory.pairs.begin();
  for (std::size_t a = 0; a < devices.size(); ++a) {
    for (std::size_t b = a + 1; b < devices.size(); ++b, ++pair) {
      pair->ancestor = Figure<CommonAncestor>::known(common_ancestor(devices[a], devices[b]), Source::file);
      pair->read = pair->write = pair->over_nvlink = pair->atomics = Figure<PeerStatus>::unknown(not_told);
    }
  }
  find_levels(gpus, inventory.pairs);
  inventory.gpus = Figure<std::vector<Gpu>>::known(std::move(gpus), Source::file);
  return inventory;
}

}  // namespace selvage::topo
