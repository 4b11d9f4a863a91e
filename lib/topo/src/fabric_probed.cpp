#include <selvage/error.hpp>
#include <selvage/topo/probe.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace selvage::topo {
namespace {

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
                    std::string description) {
  FabricParts parts;
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

double seconds_of(double latency_us, double gb_per_s, std::size_t bytes) {
  return latency_us * 1e-6 + static_cast<double>(bytes) / gb_per_s * 1e-9;
}

}  // namespace

Fabric fabric_from_probes(const Probes& probes) {
  if (probes.hosts.empty()) throw Error(ErrorKind::input, "probes of no ranks make no fabric");
  Times times(probes.rank_count());
  for (const ProbedPair& pair : probes.pairs)
    times.at(pair.from, pair.to) =
        seconds_of(pair.latency_us.front(), pair.gb_per_s.back(), probes.bandwidth_bytes.back());
  std::vector<NamedHost> hosts;
  for (int rank = 0; rank < probes.rank_count(); ++rank) {
    const std::string& name = probes.hosts[static_cast<std::size_t>(rank)];
    auto host = std::ranges::find(hosts, name, &NamedHost::name);
    if (host == hosts.end()) host = hosts.insert(host, {.name = name, .ranks = {}});
    host->ranks.push_back(rank);
  }
  return timed_fabric(times, hosts, probes.rank_count(),
                      fmt::format("probed, {} ranks on {} hosts", probes.rank_count(), hosts.size()));
}

std::optional<Fabric> fabric_from_measurements(const Machine& machine, const Probes& probes) {
  const MeasuredLinks links(machine, probes);
  Times times(machine.rank_count());
  for (int from = 0; from < machine.rank_count(); ++from) {
    for (int to = 0; to < machine.rank_count(); ++to) {
      if (from == to || machine.same_gpu(from, to)) continue;
      const auto link = links.between(from, to);
      if (!link && machine.same_physical_host(from, to)) continue;
      if (!link) return std::nullopt;
      times.at(from, to) = seconds_of(link->latency_us, link->gb_per_s, probes.bandwidth_bytes.back());
    }
  }
  if (times.least() == 0) return std::nullopt;
  std::vector<NamedHost> hosts;
  for (const LogicalHost& host : machine.hosts())
    hosts.push_back({.name = machine.physical_hosts()[static_cast<std::size_t>(host.physical_host)].name,
                     .ranks = host.ranks});
  return timed_fabric(times, hosts, machine.rank_count(),
                      fmt::format("measured, {} ranks on {} hosts", machine.rank_count(), hosts.size()));
}

}  // namespace selvage::topo
