#include <selvage/counted.hpp>
#include <selvage/error.hpp>
#include <selvage/topo/cores.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace selvage::topo {
namespace {

bool is_same(const std::optional<int>& a, const std::optional<int>& b) {
  return a && b && *a == *b;
}

std::uint32_t cost_between(const Core& a, const Core& b, const CoreCosts& costs) {
  if (is_same(a.l3_cache, b.l3_cache)) return costs.same_l3;
  if (is_same(a.numa_node, b.numa_node)) return costs.same_numa_node;
  if (is_same(a.package, b.package)) return costs.same_package;
  return costs.same_host;
}

}  // namespace

std::vector<Core> usable_cores(const PhysicalHost& host) {
  if (!host.core_list.is_known())
    throw Error(ErrorKind::input,
                fmt::format("the cores of host {} are unknown: {}", host.name, host.core_list.reason()));
  std::vector<Core> cores = host.core_list.value();
  if (!host.usable_cpus.is_known()) {
    std::erase_if(cores, [](const Core& core) { return !core.number; });
    return cores;
  }
  const std::set<int> usable(host.usable_cpus.value().begin(), host.usable_cpus.value().end());
  for (Core& core : cores) std::erase_if(core.cpus, [&](int cpu) { return !usable.contains(cpu); });
  std::erase_if(cores, [](const Core& core) { return core.cpus.empty(); });
  return cores;
}

std::vector<CoreShare> shares_of(const std::vector<Core>& cores, int shares) {
  const auto count = static_cast<std::size_t>(std::max(shares, 0));
  if (count == 0 || cores.size() < count)
    throw Error(ErrorKind::input, fmt::format("{} can't share {}", counted(shares, "rank"),
                                              counted(cores.size(), "usable core")));
  std::vector<CoreShare> all;
  for (std::size_t i = 0; i < count; ++i) {
    const auto begin = cores.begin() + static_cast<std::ptrdiff_t>(cores.size() * i / count);
    const auto end = cores.begin() + static_cast<std::ptrdiff_t>(cores.size() * (i + 1) / count);
    all.emplace_back(begin, end);
  }
  return all;
}

Fabric fabric_of_cores(const std::string& host, const std::vector<CoreShare>& shares,
                       const CoreCosts& costs) {
  if (shares.empty()) throw Error(ErrorKind::input, fmt::format("host {} has no cores to place on", host));
  FabricHost slots{.name = host, .slots = static_cast<int>(shares.size()), .slot_costs = {}};
  for (const CoreShare& a : shares) {
    for (const CoreShare& b : shares) slots.slot_costs.push_back(cost_between(a.at(0), b.at(0), costs));
  }
  FabricParts parts;
  parts.description = fmt::format("cores of {} in {} shares", host, shares.size());
  parts.hosts.push_back(std::move(slots));
  parts.host_costs = {0};
  return Fabric(std::move(parts));
}

Fabric fabric_of_cores(const PhysicalHost& host, const CoreCosts& costs) {
  std::vector<CoreShare> shares;
  for (Core& core : usable_cores(host)) shares.push_back({std::move(core)});
  return fabric_of_cores(host.name, shares, costs);
}

std::vector<int> cpus_of(const CoreShare& share) {
  std::vector<int> cpus;
  for (const Core& core : share) cpus.insert(cpus.end(), core.cpus.begin(), core.cpus.end());
  std::ranges::sort(cpus);
  return cpus;
}

}  // namespace selvage::topo
