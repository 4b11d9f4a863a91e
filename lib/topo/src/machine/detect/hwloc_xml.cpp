#include "child_trial.hpp"
#include "hwloc_topology.hpp"
#include "pretended_ranks.hpp"

#include <selvage/error.hpp>
#include <selvage/topo/machine_files.hpp>

#include <fmt/format.h>

#include <climits>
#include <utility>

namespace selvage::topo {
namespace {

/// Null when hwloc finds out by itself that it can't.
HwlocTopology load(const std::string& text) {
  hwloc_topology_t raw = nullptr;
  if (text.size() >= INT_MAX || hwloc_topology_init(&raw) != 0) return nullptr;
  HwlocTopology topology(raw);
  const bool is_loaded =
      hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0 &&
      hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL) == 0 &&
      hwloc_topology_set_xmlbuffer(raw, text.c_str(), static_cast<int>(text.size()) + 1) == 0 &&
      hwloc_topology_load(raw) == 0;
  return is_loaded ? std::move(topology) : nullptr;
}

std::string info(hwloc_obj_t object, const char* name) {
  const char* value = object == nullptr ? nullptr : hwloc_obj_get_info_by_name(object, name);
  return value == nullptr ? "" : value;
}

HostOfFile host_of_file(const std::string& text) {
  const HwlocTopology topology = load(text);
  if (!topology) throw Error(ErrorKind::input, "hwloc can't read it as its XML");
  HostInventory inventory = inventory_of(topology.get(), Source::file);
  GpuInventory gpus = gpus_of(topology.get());
  inventory.gpus = std::move(gpus.gpus);
  inventory.gpu_pairs = std::move(gpus.pairs);
  const std::string model = info(hwloc_get_obj_by_type(topology.get(), HWLOC_OBJ_PACKAGE, 0), "CPUModel");
  inventory.processor = model.empty() ? Figure<std::string>::unknown("the file doesn't tell")
                                      : Figure<std::string>::known(model, Source::file);
  const std::string name = info(hwloc_get_root_obj(topology.get()), "HostName");
  return {.name = name.empty() ? "host0" : name, .inventory = std::move(inventory)};
}

}  // namespace

Machine machine_from_hwloc_xml(std::string_view text, const std::string& name) {
  const std::string copy(text);
  // hwloc trusts its XML: a damaged one can crash it.
  if (!ends_well_in_child([&] { (void)host_of_file(copy); }))
    throw Error(ErrorKind::input, fmt::format("{}: hwloc can't read it as its XML", name));
  return machine_with_pretended_ranks({host_of_file(copy)}, name);
}

}  // namespace selvage::topo
