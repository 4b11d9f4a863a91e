#include "checked.hpp"
#include "placement/fabric/host_flows.hpp"

#include <selvage/error.hpp>
#include <selvage/topo/placement.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
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

/// Adds up what flows put on links, in whole bytes, since sums of fractions would depend on how the compiler orders them.
class LinkCounter {
 public:
  explicit LinkCounter(const MappingProblem& problem)
      : problem_(problem), network_(*problem.fabric.network()), bytes_(network_.links().size(), 0) {}

  void add(const HostFlow& flow) {
    // No link carries more than all flows together: the sums below fit.
    in_all_ = checked_sum(in_all_, flow.bytes, "bytes between hosts");
    network_.find_paths(problem_.fabric.endpoint_of(flow.from), problem_.fabric.endpoint_of(flow.to),
                        problem_.routing, paths_);
    const std::uint64_t least = flow.bytes / paths_.size();
    const std::uint64_t left = flow.bytes % paths_.size();
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      const std::uint64_t share = least + (i < left ? 1 : 0);
      for (const int link : paths_[i]) bytes_[link] += share;
    }
  }

  [[nodiscard]] std::vector<LinkLoad> loads() const {
    std::vector<LinkLoad> loads;
    for (std::size_t link = 0; link < bytes_.size(); ++link) {
      const double load = static_cast<double>(bytes_[link]) / network_.links()[link].capacity;
      loads.push_back({static_cast<int>(link), bytes_[link], load});
    }
    return loads;
  }

 private:
  const MappingProblem& problem_;
  const Network& network_;
  std::uint64_t in_all_ = 0;
  std::vector<std::uint64_t> bytes_;  // over each link
  std::vector<Path> paths_;
};

}  // namespace

void for_each_flow(const MappingProblem& problem, const Placement& placement,
                   const std::function<void(const HostFlow& flow)>& show) {
  check(problem, placement);
  const auto hosts = static_cast<std::size_t>(problem.fabric.host_count());
  std::vector<std::vector<int>> ranks_of(hosts);
  for (int rank = 0; rank < placement.rank_count(); ++rank)
    ranks_of[problem.fabric.host_of(placement.slot_of(rank))].push_back(rank);
  std::vector<std::uint64_t> bytes_to(hosts, 0);
  for (std::size_t host = 0; host < hosts; ++host) {
    for (const int rank : ranks_of[host]) {
      for (const TrafficEntry& entry : problem.traffic.sent_by(rank)) {
        const std::uint64_t bytes = bytes_of(entry);
        const int to = problem.fabric.host_of(placement.slot_of(entry.to));
        if (bytes == 0 || to == static_cast<int>(host)) continue;
        bytes_to[to] = checked_sum(bytes_to[to], bytes, "bytes between two hosts");
      }
    }
    for (std::size_t to = 0; to < hosts; ++to) {
      if (bytes_to[to] != 0)
        show({static_cast<int>(host), static_cast<int>(to), std::exchange(bytes_to[to], 0)});
    }
  }
}

std::vector<LinkLoad> link_loads(const MappingProblem& problem, const Placement& placement) {
  if (problem.fabric.network() == nullptr) return {};
  LinkCounter links(problem);
  for_each_flow(problem, placement, [&](const HostFlow& flow) { links.add(flow); });
  return links.loads();
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
  std::optional<LinkCounter> links;
  if (problem.fabric.network() != nullptr) links.emplace(problem);
  for_each_flow(problem, placement, [&](const HostFlow& flow) {
    metrics.bytes_between_hosts = checked_sum(metrics.bytes_between_hosts, flow.bytes, "bytes between hosts");
    if (links) links->add(flow);
  });
  if (links) {
    double largest = 0;
    for (const LinkLoad& load : links->loads()) largest = std::max(largest, load.load);
    metrics.largest_link_load = largest;
  }
  return metrics;
}

}  // namespace selvage::topo
