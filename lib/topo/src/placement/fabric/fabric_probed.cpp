#include "host_tree.hpp"

#include <selvage/counted.hpp>
#include <selvage/error.hpp>
#include <selvage/topo/probe.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace selvage::topo {
namespace {

constexpr std::array<std::string_view, 4> metric_names{"time", "latency", "bandwidth", "level"};

/// Seconds of a message between two ranks.
class Times {
 public:
  explicit Times(int ranks) : ranks_(static_cast<std::size_t>(ranks)), seconds_(ranks_ * ranks_, 0.0) {}

  [[nodiscard]] double& at(int a, int b) {
    return seconds_[static_cast<std::size_t>(a) * ranks_ + static_cast<std::size_t>(b)];
  }
  /// The mean of both directions.
  [[nodiscard]] double between(int a, int b) const {
    const auto i = static_cast<std::size_t>(a);
    const auto j = static_cast<std::size_t>(b);
    return (seconds_[i * ranks_ + j] + seconds_[j * ranks_ + i]) / 2;
  }
  /// Over all pairs of one and the other.
  [[nodiscard]] double mean_between(const std::vector<int>& some, const std::vector<int>& others) const {
    double sum = 0;
    for (const int a : some) {
      for (const int b : others) sum += between(a, b);
    }
    return sum / static_cast<double>(some.size() * others.size());
  }
  /// Of ranks that aren't the same; 0 where there are none.
  [[nodiscard]] double least() const {
    double least = 0;
    for (const double seconds : seconds_) {
      if (seconds > 0 && (least == 0 || seconds < least)) least = seconds;
    }
    return least;
  }

 private:
  std::size_t ranks_;
  std::vector<double> seconds_;
};

/// In tenths of the least one, rounded to steps of a tenth.
std::uint32_t cost(double seconds, double least) {
  constexpr double step = 1.1;
  const double steps = least > 0 ? std::floor(std::log(std::max(1.0, seconds / least)) / std::log(step)) : 0;
  return static_cast<std::uint32_t>(
      std::clamp(std::round(10 * std::pow(step, steps)), 10.0, static_cast<double>(Fabric::max_cost)));
}

struct NamedHost {
  std::string name;
  std::vector<int> ranks;
};

Fabric timed_fabric(const Times& times, const std::vector<NamedHost>& hosts, int ranks,
                    std::string description, std::shared_ptr<const Network> network = nullptr) {
  FabricParts parts;
  parts.network = std::move(network);
  parts.description = std::move(description);
  parts.slot_hosts.resize(static_cast<std::size_t>(ranks));
  const double least = times.least();
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    const std::vector<int>& here = hosts[host].ranks;
    parts.hosts.push_back(
        {.name = hosts[host].name, .slots = static_cast<int>(here.size()), .slot_costs = {}});
    for (const int a : here) {
      parts.slot_hosts[static_cast<std::size_t>(a)] = static_cast<int>(host);
      for (const int b : here) parts.hosts.back().slot_costs.push_back(cost(times.between(a, b), least));
    }
    for (const NamedHost& other : hosts)
      parts.host_costs.push_back(cost(times.mean_between(here, other.ranks), least));
  }
  return Fabric(std::move(parts));
}

/// What was measured between a machine's ranks.
struct Measured {
  std::size_t pairs = 0;        ///< in both directions
  double seconds_per_cost = 0;  ///< of a fabric with nominal costs; the mean
};

double seconds_of(const MeasuredLink& link, std::size_t bytes, LinkMetric metric) {
  const double latency = link.latency_us * 1e-6;
  const double transfer = static_cast<double>(bytes) / link.gb_per_s * 1e-9;
  switch (metric) {
    case LinkMetric::latency:
      return latency;
    case LinkMetric::bandwidth:
      return transfer;
    default:
      return latency + transfer;
  }
}

/// The metric as a description has it before "measured"; nothing for the default one.
std::string measured_what(LinkMetric metric) {
  return metric == LinkMetric::time ? "" : fmt::format("{} ", to_string(metric));
}

Measured measure(const Machine& machine, const Probes& probes, LinkMetric metric, const Fabric& nominal,
                 Times& times) {
  const MeasuredLinks links(machine, probes);
  Measured measured;
  for (int a = 0; a < machine.rank_count(); ++a) {
    for (int b = 0; b < a; ++b) {
      if (machine.same_gpu(a, b)) continue;
      const auto there = links.between(a, b);
      const auto back = links.between(b, a);
      if (!there || !back) continue;
      times.at(a, b) = seconds_of(*there, probes.bandwidth_bytes.back(), metric);
      times.at(b, a) = seconds_of(*back, probes.bandwidth_bytes.back(), metric);
      const double ratio = times.between(a, b) / nominal.cost(a, b);
      measured.seconds_per_cost +=
          (ratio - measured.seconds_per_cost) / static_cast<double>(++measured.pairs);
    }
  }
  return measured;
}

/// Pairs that weren't measured.
void complete(Times& times, const Fabric& nominal, double seconds_per_cost) {
  for (int a = 0; a < nominal.slot_count(); ++a) {
    for (int b = 0; b < nominal.slot_count(); ++b) {
      if (a != b && times.at(a, b) == 0) times.at(a, b) = nominal.cost(a, b) * seconds_per_cost;
    }
  }
}

}  // namespace

std::string_view to_string(LinkMetric metric) {
  return metric_names[static_cast<std::size_t>(metric)];
}
LinkMetric parse_link_metric(std::string_view text) {
  const auto found = std::ranges::find(metric_names, text);
  if (found != metric_names.end()) return static_cast<LinkMetric>(found - metric_names.begin());
  throw Error(ErrorKind::usage, fmt::format("the metric is '{}', none of {}", text.substr(0, 40),
                                            fmt::join(metric_names, ", ")));
}

Fabric fabric_from_probes(const Probes& probes, LinkMetric metric) {
  if (metric == LinkMetric::level)
    throw Error(ErrorKind::usage, "probes tell no levels: a machine does (job, job-gpus or machine:FILE)");
  if (probes.hosts.empty()) throw Error(ErrorKind::input, "probes of no ranks make no fabric");
  Times times(probes.rank_count());
  for (const ProbedPair& pair : probes.pairs)
    times.at(pair.from, pair.to) =
        seconds_of({.latency_us = pair.latency_us.front(), .gb_per_s = pair.gb_per_s.back()},
                   probes.bandwidth_bytes.back(), metric);
  std::vector<NamedHost> hosts;
  for (int rank = 0; rank < probes.rank_count(); ++rank) {
    const std::string& name = probes.hosts[static_cast<std::size_t>(rank)];
    auto host = std::ranges::find(hosts, name, &NamedHost::name);
    if (host == hosts.end()) host = hosts.insert(host, {.name = name, .ranks = {}});
    host->ranks.push_back(rank);
  }
  return timed_fabric(times, hosts, probes.rank_count(),
                      fmt::format("{}probed, {} on {}", measured_what(metric),
                                  counted(probes.rank_count(), "rank"), counted(hosts.size(), "host")));
}

Fabric fabric_from_machine(const Machine& machine, const Probes& probes, const std::string& name,
                           LinkMetric metric, const MachineCosts& costs) {
  Fabric nominal = fabric_from_machine(machine, costs);
  if (metric == LinkMetric::level) return nominal;
  Times times(machine.rank_count());
  const Measured measured = measure(machine, probes, metric, nominal, times);
  if (measured.pairs == 0) return nominal;
  complete(times, nominal, measured.seconds_per_cost);
  std::vector<NamedHost> hosts;
  for (int host = 0; host < nominal.host_count(); ++host)
    hosts.push_back({.name = nominal.host(host).name, .ranks = machine.ranks_of_host(host)});
  const auto all =
      static_cast<std::size_t>(machine.rank_count()) * static_cast<std::size_t>(machine.rank_count() - 1) / 2;
  const std::string part =
      measured.pairs == all ? "" : fmt::format(" for {} of {} pairs of ranks", measured.pairs, all);
  return timed_fabric(times, hosts, machine.rank_count(),
                      fmt::format("{}measured by {}{}, {} on {}", measured_what(metric), name, part,
                                  counted(machine.rank_count(), "rank"), counted(hosts.size(), "host")),
                      tree_of_hosts(machine));
}

}  // namespace selvage::topo
