#include <selvage/error.hpp>
#include <selvage/suggestion.hpp>
#include <selvage/topo/pattern.hpp>
#include <selvage/topo/simulation.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace selvage::topo {
namespace {

struct NamedKind {
  std::string_view name;
  SimulatedKind kind;
};
constexpr std::array<NamedKind, 5> kinds = {{{"flat", SimulatedKind::flat},
                                             {"fat-tree", SimulatedKind::fat_tree},
                                             {"dragonfly", SimulatedKind::dragonfly},
                                             {"torus", SimulatedKind::torus},
                                             {"pcie-tree", SimulatedKind::pcie_tree}}};
constexpr std::string_view fragmented_suffix = "-fragmented";

/// Per cent of the default, or nothing where the default has none.
std::optional<double> percent(double value, double of_default) {
  if (of_default <= 0) return std::nullopt;
  return 100 * value / of_default;
}

/// Means over seeds.
class Summary {
 public:
  void add(const std::string& method, const Metrics& metrics, const Metrics& of_default, bool is_verified) {
    auto found =
        std::find_if(figures_.begin(), figures_.end(), [&](const auto& one) { return one.method == method; });
    if (found == figures_.end()) {
      figures_.push_back({.method = method,
                          .hop_bytes = 0,
                          .least_hop_bytes = 1e300,
                          .most_hop_bytes = 0,
                          .link_load = {},
                          .most_link_load = {},
                          .time = {},
                          .is_verified = true});
      counts_.push_back(0);
      found = figures_.end() - 1;
    }
    const double hop_bytes = percent(metrics.hop_bytes, of_default.hop_bytes).value_or(100);
    found->hop_bytes += hop_bytes;
    found->least_hop_bytes = std::min(found->least_hop_bytes, hop_bytes);
    found->most_hop_bytes = std::max(found->most_hop_bytes, hop_bytes);
    found->is_verified = found->is_verified && is_verified;
    ++counts_[static_cast<std::size_t>(found - figures_.begin())];
    const auto load =
        percent(metrics.largest_link_load.value_or(0), of_default.largest_link_load.value_or(0));
    if (!load) return;
    found->link_load = found->link_load.value_or(0) + *load;
    found->most_link_load = std::max(found->most_link_load.value_or(0), *load);
  }

  void add_time(double percent_of_default) {
    time_ += percent_of_default;
    ++times_;
  }

  std::vector<MethodFigures> figures() {
    for (std::size_t i = 0; i < figures_.size(); ++i) {
      figures_[i].hop_bytes /= counts_[i];
      if (figures_[i].link_load) *figures_[i].link_load /= counts_[i];
      if (figures_[i].method == "portfolio" && times_ > 0) figures_[i].time = time_ / times_;
    }
    // Methods that didn't suit every allocation come late; the portfolio is the last all the same.
    std::stable_partition(figures_.begin(), figures_.end(),
                          [](const auto& one) { return one.method != "portfolio"; });
    return figures_;
  }

 private:
  std::vector<MethodFigures> figures_;
  std::vector<int> counts_;
  double time_ = 0;
  int times_ = 0;
};

std::string most_frequent(const std::map<std::string, int>& counts) {
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? "" : most->first;
}

/// Whether a placement costs what it was said to, added up anew sender by sender. The baseline's figure is a mean of
/// placements of which it keeps one.
bool costs_what_was_said(const MappingProblem& problem, const MethodResult& method) {
  if (method.method == "random") return true;
  double hop_bytes = 0;
  for (int rank = 0; rank < method.placement.rank_count(); ++rank) {
    for (const TrafficEntry& entry : problem.traffic.sent_by(rank)) {
      if (entry.to == rank) continue;
      const auto bytes = static_cast<double>(entry.host.bytes) + static_cast<double>(entry.device.bytes);
      hop_bytes +=
          bytes * problem.fabric.cost(method.placement.slot_of(rank), method.placement.slot_of(entry.to));
    }
  }
  return std::abs(hop_bytes - method.metrics.hop_bytes) <= 1e-12 * hop_bytes;
}

void add_result(const MappingProblem& problem, const PortfolioResult& placed, Summary& summary) {
  const Metrics& of_default = placed.methods.front().metrics;
  for (const MethodResult& method : placed.methods)
    summary.add(method.method, method.metrics, of_default, costs_what_was_said(problem, method));
  summary.add("portfolio", placed.result().metrics, of_default,
              costs_what_was_said(problem, placed.result()));
  const std::optional<double> before = transfer_time(problem, placed.methods.front().placement);
  if (!before || *before <= 0) return;
  const std::optional<double> after =
      placed.chosen == 0 ? before : transfer_time(problem, placed.result().placement);
  summary.add_time(100 * *after / *before);
}

}  // namespace

SimulatedFabric simulated_fabric_named(std::string_view name) {
  SimulatedFabric fabric;
  std::string_view kind = name;
  if (kind.ends_with(fragmented_suffix)) {
    fabric.fragmented = true;
    kind.remove_suffix(fragmented_suffix.size());
  }
  for (const NamedKind& one : kinds) {
    if (one.name != kind) continue;
    fabric.kind = one.kind;
    return fabric;
  }
  std::vector<std::string> names;
  for (const NamedKind& one : kinds) names.emplace_back(one.name);
  throw Error(ErrorKind::input,
              fmt::format("there is no simulated fabric '{}'{}; there are {}, and -fragmented ones",
                          name.substr(0, 40), did_you_mean(kind, names), fmt::join(names, ", ")));
}

SimulationResult simulate(const SimulationRequest& request) {
  return simulate(request, pattern_named(request.pattern));
}

SimulationResult simulate(const SimulationRequest& request, const Pattern& pattern) {
  if (request.seeds < 1 || request.slots_per_host < 1) {
    throw Error(ErrorKind::input, fmt::format("a simulation of {} seeds with {} slots per host",
                                              request.seeds, request.slots_per_host));
  }
  SimulatedFabric options = simulated_fabric_named(request.fabric);
  SimulationResult result{
      .request = request, .ranks = pattern.traffic.rank_count(), .methods = {}, .choice = {}, .remark = {}};
  options.slots_per_host = request.slots_per_host;
  options.hosts = (result.ranks + request.slots_per_host - 1) / request.slots_per_host;
  if (!options.fragmented) result.request.seeds = 1;
  Summary summary;
  std::map<std::string, int> chosen;
  std::string reason;
  for (int seed = 1; seed <= result.request.seeds; ++seed) {
    options.seed = static_cast<std::uint64_t>(seed);
    const Fabric fabric = simulated_fabric(options);
    const MappingProblem problem{.traffic = pattern.traffic,
                                 .fabric = fabric,
                                 .grid = pattern.grid,
                                 .seed = options.seed,
                                 .routing = request.routing};
    const PortfolioResult placed = place_by_portfolio(problem);
    add_result(problem, placed, summary);
    ++chosen[placed.result().method];
    reason = placed.reason;
  }
  result.methods = summary.figures();
  result.choice = most_frequent(chosen);
  if (chosen["default"] == result.request.seeds) result.remark = "nothing gained: " + reason;
  return result;
}

}  // namespace selvage::topo
