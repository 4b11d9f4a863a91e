#include <selvage/error.hpp>
#include <selvage/topo/probe.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace selvage::topo {
namespace {

/// Seconds of a message between two ranks, the mean of both directions.
class Times {
 public:
  explicit Times(const Probes& probes) : ranks_(probes.hosts.size()), seconds_(ranks_ * ranks_, 0.0) {
    for (const ProbedPair& pair : probes.pairs) {
      const double seconds =
          pair.latency_us * 1e-6 + static_cast<double>(probes.bandwidth_bytes) / pair.gb_per_s * 1e-9;
      at(pair.from, pair.to) += seconds / 2;
      at(pair.to, pair.from) += seconds / 2;
      least_ = least_ == 0 ? seconds : std::min(least_, seconds);
    }
  }
  [[nodiscard]] double of(int a, int b) const {
    return seconds_[static_cast<std::size_t>(a) * ranks_ + static_cast<std::size_t>(b)];
  }
  /// In tenths of the least one, rounded to steps of a tenth.
  [[nodiscard]] std::uint32_t cost(double seconds) const {
    constexpr double step = 1.1;
    const double steps = std::floor(std::log(std::max(1.0, seconds / least_)) / std::log(step));
    return static_cast<std::uint32_t>(
        std::clamp(std::round(10 * std::pow(step, steps)), 10.0, static_cast<double>(Fabric::max_cost)));
  }

 private:
  double& at(int a, int b) {
    return seconds_[static_cast<std::size_t>(a) * ranks_ + static_cast<std::size_t>(b)];
  }

  std::size_t ranks_;
  std::vector<double> seconds_;
  double least_ = 0;
};

double mean_between(const Times& times, const std::vector<int>& some, const std::vector<int>& others) {
  double sum = 0;
  for (const int a : some) {
    for (const int b : others) sum += times.of(a, b);
  }
  return sum / static_cast<double>(some.size() * others.size());
}

}  // namespace

Fabric fabric_from_probes(const Probes& probes) {
  if (probes.hosts.empty()) throw Error(ErrorKind::input, "probes of no ranks make no fabric");
  const Times times(probes);
  FabricParts parts;
  std::vector<std::vector<int>> ranks_of;
  for (int rank = 0; rank < probes.rank_count(); ++rank) {
    const std::string& name = probes.hosts[static_cast<std::size_t>(rank)];
    const auto known = std::ranges::find(parts.hosts, name, &FabricHost::name);
    const auto host = static_cast<std::size_t>(known - parts.hosts.begin());
    if (known == parts.hosts.end()) {
      parts.hosts.push_back({.name = name, .slots = 0, .slot_costs = {}});
      ranks_of.emplace_back();
    }
    ++parts.hosts[host].slots;
    ranks_of[host].push_back(rank);
    parts.slot_hosts.push_back(static_cast<int>(host));
  }
  for (std::size_t host = 0; host < parts.hosts.size(); ++host) {
    for (const int a : ranks_of[host]) {
      for (const int b : ranks_of[host]) parts.hosts[host].slot_costs.push_back(times.cost(times.of(a, b)));
    }
  }
  for (const std::vector<int>& some : ranks_of) {
    for (const std::vector<int>& others : ranks_of)
      parts.host_costs.push_back(times.cost(mean_between(times, some, others)));
  }
  parts.description = fmt::format("probed, {} ranks on {} hosts", probes.rank_count(), parts.hosts.size());
  return Fabric(std::move(parts));
}

}  // namespace selvage::topo
