#include "checked.hpp"
#include "host_flows.hpp"

#include <selvage/error.hpp>
#include <selvage/topo/placement.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

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

}  // namespace

std::vector<HostFlow> host_flows(const MappingProblem& problem, const Placement& placement) {
  check(problem, placement);
  std::vector<HostFlow> flows;
  for (const TrafficEntry& entry : problem.traffic.entries()) {
    const int from = problem.fabric.host_of(placement.slot_of(entry.from));
    const int to = problem.fabric.host_of(placement.slot_of(entry.to));
    const std::uint64_t bytes = checked_sum(entry.host.bytes, entry.device.bytes, "bytes between two ranks");
    if (from != to && bytes != 0) flows.push_back({from, to, bytes});
  }
  std::sort(flows.begin(), flows.end(), [](const HostFlow& a, const HostFlow& b) {
    return std::tie(a.from, a.to) < std::tie(b.from, b.to);
  });
  std::size_t kept = 0;
  for (const HostFlow& flow : flows) {
    if (kept > 0 && flows[kept - 1].from == flow.from && flows[kept - 1].to == flow.to) {
      flows[kept - 1].bytes = checked_sum(flows[kept - 1].bytes, flow.bytes, "bytes between two hosts");
    } else {
      flows[kept++] = flow;
    }
  }
  flows.resize(kept);
  return flows;
}

std::vector<LinkLoad> link_loads(const MappingProblem& problem, const Placement& placement) {
  const Network* network = problem.fabric.network();
  if (network == nullptr) return {};
  // Whole bytes, since sums of fractions would depend on how the compiler orders them.
  std::vector<LinkLoad> loads(network->links().size());
  for (std::size_t link = 0; link < loads.size(); ++link) loads[link].link = static_cast<int>(link);
  for (const HostFlow& flow : host_flows(problem, placement)) {
    const std::vector<Path> paths = network->paths(problem.fabric.endpoint_of(flow.from),
                                                   problem.fabric.endpoint_of(flow.to), problem.routing);
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const std::uint64_t share = flow.bytes / paths.size() + (i < flow.bytes % paths.size() ? 1 : 0);
      for (const int link : paths[i])
        loads[link].bytes = checked_sum(loads[link].bytes, share, "bytes over a link");
    }
  }
  for (LinkLoad& load : loads)
    load.load = static_cast<double>(load.bytes) / network->links()[load.link].capacity;
  return loads;
}

Metrics measure(const MappingProblem& problem, const Placement& placement) {
  check(problem, placement);
  Metrics metrics;
  double bytes_in_all = 0;
  for (const TrafficEntry& entry : problem.traffic.entries()) {
    const std::uint64_t bytes = checked_sum(entry.host.bytes, entry.device.bytes, "bytes between two ranks");
    if (entry.from == entry.to || bytes == 0) continue;
    const std::uint32_t cost =
        problem.fabric.cost(placement.slot_of(entry.from), placement.slot_of(entry.to));
    metrics.hop_bytes += static_cast<double>(bytes) * cost;
    metrics.largest_dilation = std::max(metrics.largest_dilation, cost);
    bytes_in_all += static_cast<double>(bytes);
  }
  if (bytes_in_all > 0) metrics.average_dilation = metrics.hop_bytes / bytes_in_all;
  for (const HostFlow& flow : host_flows(problem, placement)) {
    metrics.bytes_between_hosts = checked_sum(metrics.bytes_between_hosts, flow.bytes, "bytes between hosts");
  }
  if (problem.fabric.network() != nullptr) {
    double largest = 0;
    for (const LinkLoad& load : link_loads(problem, placement)) largest = std::max(largest, load.load);
    metrics.largest_link_load = largest;
  }
  return metrics;
}

}  // namespace selvage::topo
