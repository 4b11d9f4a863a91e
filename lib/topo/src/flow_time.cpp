#include "host_flows.hpp"

#include <selvage/topo/simulation.hpp>

#include <algorithm>
#include <limits>

namespace selvage::topo {
namespace {

/// What one host sends another over one path.
struct Flow {
  Path path;
  double bytes = 0;
  double rate = 0;
};

/// Flows that share links.
class Fluid {
 public:
  Fluid(const Network& network, std::vector<Flow> flows) : network_(network), flows_(std::move(flows)) {
    flows_on_.resize(network.links().size());
    for (std::size_t flow = 0; flow < flows_.size(); ++flow) {
      for (const int link : flows_[flow].path) flows_on_[link].push_back(flow);
      active_.push_back(flow);
    }
  }

  double run() {
    double time = 0;
    while (!active_.empty()) {
      share();
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
  /// Water filling: the link that gives its flows least fixes their rates; then the same without them.
  void share() {
    const std::size_t links = network_.links().size();
    std::vector<double> capacity(links);
    std::vector<int> waiting(links, 0);
    for (std::size_t link = 0; link < links; ++link) capacity[link] = network_.links()[link].capacity;
    for (Flow& flow : flows_) flow.rate = -1;
    for (const std::size_t flow : active_) {
      flows_[flow].rate = 0;
      for (const int link : flows_[flow].path) ++waiting[link];
    }
    std::size_t left = active_.size();
    while (left > 0) {
      const double least = least_share(capacity, waiting);
      for (std::size_t link = 0; link < links; ++link) {
        if (waiting[link] == 0 || capacity[link] / waiting[link] > least * rounding) continue;
        left -= fix(flows_on_[link], least, capacity, waiting);
      }
    }
  }

  [[nodiscard]] static double least_share(const std::vector<double>& capacity,
                                          const std::vector<int>& waiting) {
    double least = std::numeric_limits<double>::max();
    for (std::size_t link = 0; link < capacity.size(); ++link) {
      if (waiting[link] > 0) least = std::min(least, capacity[link] / waiting[link]);
    }
    return least;
  }

  /// \return how many flows were fixed
  std::size_t fix(const std::vector<std::size_t>& flows, double rate, std::vector<double>& capacity,
                  std::vector<int>& waiting) {
    std::size_t fixed = 0;
    for (const std::size_t index : flows) {
      Flow& flow = flows_[index];
      if (flow.rate != 0) continue;
      flow.rate = rate;
      ++fixed;
      for (const int link : flow.path) {
        capacity[link] = std::max(capacity[link] - rate, 0.0);
        --waiting[link];
      }
    }
    return fixed;
  }

  static constexpr double rounding = 1 + 1e-9;

  const Network& network_;
  std::vector<Flow> flows_;
  std::vector<std::vector<std::size_t>> flows_on_;  // of each link
  std::vector<std::size_t> active_;
};

}  // namespace

std::optional<double> transfer_time(const MappingProblem& problem, const Placement& placement) {
  const Network* network = problem.fabric.network();
  if (network == nullptr) return std::nullopt;
  std::vector<Flow> flows;
  for_each_flow(problem, placement, [&](const HostFlow& flow) {
    const std::vector<Path> paths = network->paths(problem.fabric.endpoint_of(flow.from),
                                                   problem.fabric.endpoint_of(flow.to), problem.routing);
    for (const Path& path : paths) {
      flows.push_back({path, static_cast<double>(flow.bytes) / static_cast<double>(paths.size()), 0});
    }
  });
  return Fluid(*network, std::move(flows)).run();
}

}  // namespace selvage::topo
