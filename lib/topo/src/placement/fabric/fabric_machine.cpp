#include "host_tree.hpp"

#include <selvage/counted.hpp>
#include <selvage/error.hpp>
#include <selvage/topo/fabric.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace selvage::topo {
namespace {

bool is_linked(const GpuPair& pair) {
  return pair.level == GpuLevel::nvlink || pair.level == GpuLevel::nvswitch;
}

/// Costs by level, and by width where NVLinks join.
class GpuCosts {
 public:
  GpuCosts(const std::vector<PhysicalHost>& hosts, const MachineCosts& costs) : costs_(costs) {
    for (const PhysicalHost& host : hosts) {
      for (const GpuPair& pair : host.gpu_pairs)
        by_bandwidth_ = by_bandwidth_ && (!is_linked(pair) || pair.nvlink_gb_per_s.is_known());
    }
    for (const PhysicalHost& host : hosts) {
      for (const GpuPair& pair : host.gpu_pairs) {
        if (is_linked(pair)) widest_ = std::max(widest_, width(pair));
      }
    }
  }

  [[nodiscard]] std::uint32_t of(const GpuPair& pair) const {
    switch (pair.level) {
      case GpuLevel::same_gpu:
        return costs_.same_gpu;
      case GpuLevel::nvlink:
      case GpuLevel::nvswitch:
        return of_links(pair);
      case GpuLevel::pcie_switch:
        return pair.ancestor.value_or(CommonAncestor::pcie_switch) == CommonAncestor::board
                   ? costs_.same_board
                   : costs_.pcie_switch;
      case GpuLevel::root_complex:
        return costs_.root_complex;
      case GpuLevel::numa:
        return costs_.numa;
      case GpuLevel::system:
        return costs_.system;
      case GpuLevel::unknown:
        return costs_.same_host;
    }
    return costs_.same_host;
  }

 private:
  [[nodiscard]] double width(const GpuPair& pair) const {
    return by_bandwidth_ ? pair.nvlink_gb_per_s.value() : pair.nvlinks;
  }
  [[nodiscard]] std::uint32_t of_links(const GpuPair& pair) const {
    if (width(pair) <= 0) return costs_.nvlink;
    const double cost = std::round(costs_.nvlink * widest_ / width(pair));
    const auto most = static_cast<double>(std::max(costs_.nvlink, costs_.pcie_switch));
    return static_cast<std::uint32_t>(std::min(cost, most));
  }

  MachineCosts costs_;
  bool by_bandwidth_ = true;
  double widest_ = 0;
};

std::uint32_t cost_between(const Machine& machine, int a, int b, const GpuCosts& gpu_costs,
                           const MachineCosts& costs) {
  if (machine.same_gpu(a, b)) return costs.same_gpu;
  const GpuPair* pair = machine.gpu_pair(a, b);
  return pair != nullptr ? gpu_costs.of(*pair) : costs.same_host;
}

FabricHost host_of(const Machine& machine, int host, const GpuCosts& gpu_costs, const MachineCosts& costs) {
  const std::vector<int>& ranks = machine.ranks_of_host(host);
  FabricHost out{.name = machine.physical_hosts()[machine.hosts()[host].physical_host].name,
                 .slots = static_cast<int>(ranks.size()),
                 .slot_costs = {}};
  for (const int a : ranks) {
    for (const int b : ranks) out.slot_costs.push_back(cost_between(machine, a, b, gpu_costs, costs));
  }
  return out;
}

/// The NVLink domain to which all GPUs of a host belong. A cluster of zeros reaches no further than its host.
std::optional<GpuFabric> domain_of(const PhysicalHost& host) {
  const std::vector<Gpu> gpus = host.gpus.value_or({});
  if (gpus.empty() || !gpus.front().fabric.is_known()) return std::nullopt;
  const GpuFabric& first = gpus.front().fabric.value();
  const bool is_shared =
      std::ranges::all_of(gpus, [&](const Gpu& gpu) { return gpu.fabric == gpus.front().fabric; });
  const bool has_cluster = first.cluster.find_first_not_of("0-") != std::string::npos;
  return is_shared && has_cluster ? std::optional(first) : std::nullopt;
}

std::vector<std::uint32_t> costs_between_hosts(const Machine& machine, const TreeNetwork& network,
                                               const MachineCosts& costs) {
  std::vector<std::optional<GpuFabric>> domains;
  for (const PhysicalHost& host : machine.physical_hosts()) domains.push_back(domain_of(host));
  std::vector<std::uint32_t> all;
  for (int a = 0; a < machine.host_count(); ++a) {
    for (int b = 0; b < machine.host_count(); ++b) {
      const int first = machine.hosts()[a].physical_host;
      const int second = machine.hosts()[b].physical_host;
      const bool are_joined = first != second && domains[first] && domains[first] == domains[second];
      const int levels = a == b ? 1 : network.levels_to_common_switch(a, b);
      all.push_back(are_joined ? costs.nvlink
                               : costs.other_host + costs.per_level * static_cast<std::uint32_t>(levels - 1));
    }
  }
  return all;
}

/// Costs of all pairs are kept, so that too many are refused before they are made.
void check_size(const Machine& machine) {
  if (machine.rank_count() == 0) throw Error(ErrorKind::input, "a machine without ranks has no slots");
  if (machine.host_count() > Fabric::max_hosts)
    throw Error(ErrorKind::input, fmt::format("a machine of {} hosts; up to {} are possible",
                                              machine.host_count(), Fabric::max_hosts));
  for (const LogicalHost& host : machine.hosts()) {
    if (host.ranks.size() > static_cast<std::size_t>(Fabric::max_hosts))
      throw Error(ErrorKind::input, fmt::format("a host of {} ranks", host.ranks.size()));
  }
}

}  // namespace

Fabric fabric_from_machine(const Machine& machine, const MachineCosts& costs) {
  check_size(machine);
  const GpuCosts gpu_costs(machine.physical_hosts(), costs);
  FabricParts parts;
  parts.description = fmt::format("machine, {} on {}", counted(machine.rank_count(), "rank"),
                                  counted(machine.host_count(), "host"));
  for (int host = 0; host < machine.host_count(); ++host) {
    parts.hosts.push_back(host_of(machine, host, gpu_costs, costs));
  }
  const auto network = tree_of_hosts(machine);
  parts.host_costs = costs_between_hosts(machine, *network, costs);
  for (int rank = 0; rank < machine.rank_count(); ++rank) parts.slot_hosts.push_back(machine.host_of(rank));
  parts.network = network;
  return Fabric(std::move(parts));
}

Fabric fabric_of_gpus(const PhysicalHost& host, const MachineCosts& costs) {
  const std::size_t gpus = host.gpus.value_or({}).size();
  if (gpus == 0) {
    throw Error(ErrorKind::input, fmt::format("host {} has no GPUs to place on{}{}", host.name,
                                              host.gpus.is_known() ? "" : ": ", host.gpus.reason()));
  }
  const GpuCosts gpu_costs({host}, costs);
  FabricHost slots{.name = host.name, .slots = static_cast<int>(gpus), .slot_costs = {}};
  slots.slot_costs.assign(gpus * gpus, costs.same_gpu);
  auto pair = host.gpu_pairs.begin();
  for (std::size_t a = 0; a < gpus; ++a) {
    for (std::size_t b = a + 1; b < gpus; ++b) {
      const std::uint32_t cost = pair != host.gpu_pairs.end() ? gpu_costs.of(*pair++) : costs.same_host;
      slots.slot_costs[a * gpus + b] = slots.slot_costs[b * gpus + a] = cost;
    }
  }
  FabricParts parts;
  parts.description = fmt::format("{} of {}", counted(gpus, "GPU"), host.name);
  parts.hosts.push_back(std::move(slots));
  parts.host_costs = {0};
  return Fabric(std::move(parts));
}

}  // namespace selvage::topo
