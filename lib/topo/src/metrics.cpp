#include "checked.hpp"
#include "host_flows.hpp"

#include <selvage/error.hpp>
#include <selvage/topo/placement.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace selvage::topo {
namespace {

void check(const MappingProblem& problem, const Placement& placement) {
  const int ranks = problem.traffic.rank_count();
  const int slots = problem.fabric.slot_count();
  if (placement.rank_count() == ranks && placement.slot_count() == slots) return;
  throw Error(ErrorKind::input,
              fmt::format("a placement of {} ranks on {} slots for traffic of {} ranks and {} slots",
                          placement.rank_count(), placement.slot_count(), ranks, slots));
}

std::vector<LinkLoad> loads_of(const MappingProblem& problem, const std::vector<HostFlow>& flows) {
  const Network& network = *problem.fabric.network();
  // Whole bytes, since sums of fractions would depend on how the compiler orders them.
  std::vector<LinkLoad> loads(network.links().size());
  for (std::size_t link = 0; link < loads.size(); ++link) loads[link].link = static_cast<int>(link);
  for (const HostFlow& flow : flows) {
    const std::vector<Path> paths = network.paths(problem.fabric.endpoint_of(flow.from),
                                                  problem.fabric.endpoint_of(flow.to), problem.routing);
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const std::uint64_t share = flow.bytes / paths.size() + (i < flow.bytes % paths.size() ? 1 : 0);
      for (const int link : paths[i])
        loads[link].bytes = checked_sum(loads[link].bytes, share, "bytes over a link");
    }
  }
  for (LinkLoad& load : loads)
    load.load = static_cast<double>(load.bytes) / network.links()[load.link].capacity;
  return loads;
}

}  // namespace

std::vector<HostFlow> host_flows(const MappingProblem& problem, const Placement& placement) {
  check(problem, placement);
  const auto hosts = static_cast<std::size_t>(problem.fabric.host_count());
  std::vector<std::vector<int>> ranks_of(hosts);
  for (int rank = 0; rank < placement.rank_count(); ++rank)
    ranks_of[problem.fabric.host_of(placement.slot_of(rank))].push_back(rank);
  std::vector<std::uint64_t> bytes_to(hosts, 0);
  std::vector<HostFlow> flows;
  for (std::size_t host = 0; host < hosts; ++host) {
    std::vector<int> reached;
    for (const int rank : ranks_of[host]) {
      for (const TrafficEntry& entry : problem.traffic.sent_by(rank)) {
        const std::uint64_t bytes = bytes_of(entry);
        const int to = problem.fabric.host_of(placement.slot_of(entry.to));
        if (bytes == 0 || to == static_cast<int>(host)) continue;
        if (bytes_to[to] == 0) reached.push_back(to);
        bytes_to[to] = checked_sum(bytes_to[to], bytes, "bytes between two hosts");
      }
    }
    std::ranges::sort(reached);
    for (const int to : reached)
      flows.push_back({static_cast<int>(host), to, std::exchange(bytes_to[to], 0)});
  }
  return flows;
}

std::vector<LinkLoad> link_loads(const MappingProblem& problem, const Placement& placement) {
  if (problem.fabric.network() == nullptr) return {};
  return loads_of(problem, host_flows(problem, placement));
}

Metrics measure(const MappingProblem& problem, const Placement& placement) {
  check(problem, placement);
  Metrics metrics;
  double bytes_in_all = 0;
  for (const TrafficEntry& entry : problem.traffic.entries()) {
    const std::uint64_t bytes = bytes_of(entry);
    if (entry.from == entry.to || bytes == 0) continue;
    const std::uint32_t cost =
        problem.fabric.cost(placement.slot_of(entry.from), placement.slot_of(entry.to));
    metrics.hop_bytes += static_cast<double>(bytes) * cost;
    metrics.largest_dilation = std::max(metrics.largest_dilation, cost);
    bytes_in_all += static_cast<double>(bytes);
  }
  if (bytes_in_all > 0) metrics.average_dilation = metrics.hop_bytes / bytes_in_all;
  const std::vector<HostFlow> flows = host_flows(problem, placement);
  for (const HostFlow& flow : flows) {
    metrics.bytes_between_hosts = checked_sum(metrics.bytes_between_hosts, flow.bytes, "bytes between hosts");
  }
  if (problem.fabric.network() != nullptr) {
    double largest = 0;
    for (const LinkLoad& load : loads_of(problem, flows)) largest = std::max(largest, load.load);
    metrics.largest_link_load = largest;
  }
  return metrics;
}

}  // namespace selvage::topo
