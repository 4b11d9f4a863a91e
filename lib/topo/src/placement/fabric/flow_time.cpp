#include "host_flows.hpp"

#include <selvage/topo/placement.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace selvage::topo {
namespace {

/// Links of paths that are kept, and looked at: some 100 MB, a second or two.
constexpr std::size_t most_kept = 10'000'000;
constexpr std::int64_t most_looks = 1'000'000'000;

/// What one host sends another over one path.
struct Flow {
  std::size_t first = 0;  // of its links
  std::size_t last = 0;
  double bytes = 0;
  double weight = 1;  // the parts of what a host sends another one are one flow to the others
  double rate = 0;
};

/// Flows that share links.
class Fluid {
 public:
  explicit Fluid(const Network& network)
      : network_(network),
        flows_on_(network.links().size()),
        capacity_(network.links().size()),
        weight_(network.links().size()),
        waiting_(network.links().size(), 0) {}

  /// \return false where that is too many
  bool add(const HostFlow& flow, std::span<const Path> paths) {
    const double part = 1.0 / static_cast<double>(paths.size());
    for (const Path& path : paths) {
      if (links_.size() + path.size() > most_kept) return false;
      for (const int link : path) flows_on_[link].push_back(flows_.size());
      active_.push_back(flows_.size());
      flows_.push_back({.first = links_.size(),
                        .last = links_.size() + path.size(),
                        .bytes = static_cast<double>(flow.bytes) * part,
                        .weight = part});
      links_.insert(links_.end(), path.begin(), path.end());
    }
    return true;
  }

  /// \return nothing where that takes too long
  std::optional<double> run() {
    double time = 0;
    while (!active_.empty()) {
      share();
      if (looks_left_ < 0) return std::nullopt;
      double step = std::numeric_limits<double>::max();
      for (const std::size_t flow : active_) step = std::min(step, flows_[flow].bytes / flows_[flow].rate);
      constexpr double same_moment = 1.01;
      step *= same_moment;
      time += step;
      for (const std::size_t flow : active_) flows_[flow].bytes -= step * flows_[flow].rate;
      std::erase_if(active_, [&](std::size_t flow) { return flows_[flow].bytes <= 0; });
    }
    return time;
  }

 private:
  [[nodiscard]] std::span<const int> path_of(const Flow& flow) const {
    return std::span(links_).subspan(flow.first, flow.last - flow.first);
  }

  /// Water filling: the link that gives its flows least fixes their rates; then the same without them.
  void share() {
    std::vector<int> busy;  // links that flows without a rate pass
    for (const std::size_t index : active_) {
      flows_[index].rate = 0;
      for (const int link : path_of(flows_[index])) {
        if (waiting_[link]++ == 0) {
          capacity_[link] = network_.links()[link].capacity;
          weight_[link] = 0;
          busy.push_back(link);
        }
        weight_[link] += flows_[index].weight;
      }
      looks_left_ -= static_cast<std::int64_t>(flows_[index].last - flows_[index].first);
    }
    while (!busy.empty()) {
      double least = std::numeric_limits<double>::max();
      for (const int link : busy) least = std::min(least, capacity_[link] / weight_[link]);
      for (const int link : busy) {
        if (waiting_[link] > 0 && capacity_[link] / weight_[link] <= least * rounding) fix(link, least);
      }
      looks_left_ -= static_cast<std::int64_t>(busy.size());
      std::erase_if(busy, [&](int link) { return waiting_[link] == 0; });
    }
  }

  void fix(int full_link, double share) {
    for (const std::size_t index : flows_on_[full_link]) {
      Flow& flow = flows_[index];
      if (flow.rate != 0 || flow.bytes <= 0) continue;
      flow.rate = share * flow.weight;
      for (const int link : path_of(flow)) {
        capacity_[link] = std::max(capacity_[link] - flow.rate, 0.0);
        weight_[link] -= flow.weight;
        --waiting_[link];
      }
    }
  }

  static constexpr double rounding = 1 + 1e-9;

  const Network& network_;
  std::vector<int> links_;  // of all paths
  std::vector<Flow> flows_;
  std::vector<std::vector<std::size_t>> flows_on_;  // of each link
  std::vector<std::size_t> active_;
  std::vector<double> capacity_;  // of each link, less what rates take
  std::vector<double> weight_;    // of the flows over each link without a rate
  std::vector<int> waiting_;      // their number
  std::int64_t looks_left_ = most_looks;
};

}  // namespace

std::optional<double> transfer_time(const MappingProblem& problem, const Placement& placement) {
  const Network* network = problem.fabric.network();
  if (network == nullptr) return std::nullopt;
  Fluid fluid(*network);
  std::vector<Path> paths;
  bool all_fit = true;
  for_each_flow(problem, placement, [&](const HostFlow& flow) {
    if (!all_fit) return;
    network->find_paths(problem.fabric.endpoint_of(flow.from), problem.fabric.endpoint_of(flow.to),
                        problem.routing, paths);
    all_fit = fluid.add(flow, paths);
  });
  return all_fit ? fluid.run() : std::nullopt;
}

}  // namespace selvage::topo
