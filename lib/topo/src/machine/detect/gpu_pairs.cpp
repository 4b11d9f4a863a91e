#include "records.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace selvage::topo {
namespace {

using Choice = std::function<bool(const NvLink& link)>;

/// Some of a GPU's links together.
struct Bundle {
  int links = 0;
  Figure<double> gb_per_s;
};

Bundle bundle(const Gpu& gpu, const Choice& takes) {
  Bundle out;
  if (!gpu.links.is_known()) {
    out.gb_per_s = Figure<double>::unknown(gpu.links.reason());
    return out;
  }
  double sum = 0;
  const NvLink* without = nullptr;
  Source source = gpu.links.source();
  for (const NvLink& link : gpu.links.value()) {
    if (!takes(link)) continue;
    ++out.links;
    sum += link.gb_per_s.value_or(0);
    if (link.gb_per_s.is_known()) source = link.gb_per_s.source();
    if (!link.gb_per_s.is_known()) without = &link;
  }
  if (out.links == 0) {
    out.gb_per_s = Figure<double>::unknown("no NVLink between them");
  } else {
    out.gb_per_s = without == nullptr ? Figure<double>::known(sum, source)
                                      : Figure<double>::unknown(without->gb_per_s.reason());
  }
  return out;
}

/// What both ends have: the lesser of two bundles.
Bundle lesser(const Bundle& a, const Bundle& b) {
  if (!a.gb_per_s.is_known()) return a.links <= b.links ? a : Bundle{b.links, a.gb_per_s};
  if (!b.gb_per_s.is_known()) return {std::min(a.links, b.links), b.gb_per_s};
  return {std::min(a.links, b.links), a.gb_per_s.value() <= b.gb_per_s.value() ? a.gb_per_s : b.gb_per_s};
}

bool ends_at(const NvLink& link, LinkEnd end) {
  return link.end == end;
}

Choice leads_to(const Gpu& gpu) {
  return
      [&gpu](const NvLink& link) { return ends_at(link, LinkEnd::gpu) && link.pci_bus_id == gpu.pci_bus_id; };
}

GpuLevel level_of(const Figure<CommonAncestor>& ancestor) {
  if (!ancestor.is_known()) return GpuLevel::unknown;
  switch (ancestor.value()) {
    case CommonAncestor::board:
    case CommonAncestor::pcie_switch:
    case CommonAncestor::pcie_switches:
      return GpuLevel::pcie_switch;
    case CommonAncestor::host_bridge:
      return GpuLevel::root_complex;
    case CommonAncestor::numa_node:
      return GpuLevel::numa;
    case CommonAncestor::system:
      return GpuLevel::system;
  }
  return GpuLevel::unknown;
}

bool may_pass_nvlink(const GpuPair& pair) {
  return !pair.over_nvlink.is_known() || pair.over_nvlink.value() == PeerStatus::ok;
}

bool surely_passes_nvlink(const GpuPair& pair) {
  return pair.over_nvlink.is_known() && pair.over_nvlink.value() == PeerStatus::ok;
}

void set(GpuPair& pair, GpuLevel level, const Bundle& links) {
  pair.level = level;
  pair.nvlinks = links.links;
  pair.nvlink_gb_per_s = links.gb_per_s;
}

void find_level(const Gpu& a, const Gpu& b, bool all_reach_all, GpuPair& pair) {
  // A file may list a link at one of its ends only.
  const Bundle there = bundle(a, leads_to(b));
  const Bundle back = bundle(b, leads_to(a));
  const Bundle& direct = there.links >= back.links ? there : back;
  if (direct.links > 0) return set(pair, GpuLevel::nvlink, direct);
  const auto to_switch = [](const NvLink& link) { return ends_at(link, LinkEnd::nvswitch); };
  const Bundle switched = lesser(bundle(a, to_switch), bundle(b, to_switch));
  if (switched.links > 0 && may_pass_nvlink(pair)) return set(pair, GpuLevel::nvswitch, switched);
  if (surely_passes_nvlink(pair)) {
    const auto is_hidden = [](const NvLink& link) { return ends_at(link, LinkEnd::hidden); };
    const Bundle hidden = lesser(bundle(a, is_hidden), bundle(b, is_hidden));
    return set(pair, all_reach_all ? GpuLevel::nvswitch : GpuLevel::nvlink, hidden);
  }
  set(pair, level_of(pair.ancestor), {0, Figure<double>::unknown("no NVLink between them")});
}

}  // namespace

std::vector<GpuPair> pairs_of(const std::vector<Gpu>& gpus) {
  if (gpus.size() > max_gpus_per_host)
    throw Error(ErrorKind::input,
                fmt::format("{} GPUs on a host; up to {} are possible", gpus.size(), max_gpus_per_host));
  std::vector<GpuPair> pairs;
  for (std::size_t a = 0; a < gpus.size(); ++a) {
    for (std::size_t b = a + 1; b < gpus.size(); ++b) {
      GpuPair& pair = pairs.emplace_back();
      pair.first = gpus[a].pci_bus_id;
      pair.second = gpus[b].pci_bus_id;
    }
  }
  return pairs;
}

void find_levels(const std::vector<Gpu>& gpus, std::vector<GpuPair>& pairs) {
  const bool all_reach_all = std::ranges::all_of(pairs, surely_passes_nvlink);
  auto pair = pairs.begin();
  for (std::size_t a = 0; a < gpus.size(); ++a) {
    for (std::size_t b = a + 1; b < gpus.size(); ++b) find_level(gpus[a], gpus[b], all_reach_all, *pair++);
  }
}

}  // namespace selvage::topo
