#include "relief.hpp"

#include "checked.hpp"
#include "placement/fabric/host_flows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace selvage::topo {
namespace {

/// Links of paths that are looked at: a second or two.
constexpr std::int64_t most_relief_looks = 200'000'000;
/// Bytes are halved until there are about 2^46 of them, so that sums of costs stay whole numbers of 64 bits.
constexpr int most_bits = 46;
constexpr std::size_t most_entries = 1 << 20;

enum class Unit { host, rank };

struct UnitFlow {
  int from = 0;
  int to = 0;
  std::uint64_t bytes = 0;
};

int halvings_of(const Traffic& traffic) {
  double total = 0;
  for (const TrafficEntry& entry : traffic.entries()) total += static_cast<double>(bytes_of(entry));
  return std::max(std::ilogb(std::max(total, 1.0)) - most_bits, 0);
}

Placement placement_of(const MappingProblem& problem, Slots slots) {
  slots.resize(static_cast<std::size_t>(problem.traffic.rank_count()));
  return Placement(std::move(slots), problem.fabric.slot_count());
}

/// Hosts' ranks at hosts, or ranks in slots, that swap their places.
class Relief {
 public:
  Relief(const MappingProblem& problem, Unit unit, const Slots& slots, double largest_load,
         std::int64_t& looks_left)
      : problem_(problem),
        fabric_(problem.fabric),
        unit_(unit),
        at_(slots),
        looks_left_(looks_left),
        bytes_(fabric_.network()->links().size(), 0) {
    if (unit == Unit::host) {
      at_.resize(static_cast<std::size_t>(fabric_.host_count()));
      std::iota(at_.begin(), at_.end(), 0);
    }
    flows_of_.resize(at_.size());
    const int halvings = halvings_of(problem.traffic);
    for (const Link& link : fabric_.network()->links())
      allowed_.push_back(static_cast<std::int64_t>(std::ldexp(largest_load * link.capacity, -halvings)));
    if (unit == Unit::host) {
      for_each_flow(problem, placement_of(problem, slots), [&](const HostFlow& flow) {
        add({flow.from, flow.to, flow.bytes >> halvings});
      });
      return;
    }
    for (const TrafficEntry& entry : problem.traffic.entries())
      add({entry.from, entry.to, bytes_of(entry) >> halvings});
  }

  /// \return whether no link carries too much
  bool run() {
    while (excess_ > 0 && looks_left_ > 0) {
      const auto [a, b] = best_swap();
      if (a < 0) break;
      swap(a, b);
    }
    return excess_ == 0;
  }

  /// The place of each unit.
  [[nodiscard]] const std::vector<int>& at() const { return at_; }

 private:
  struct Pair {
    int a = -1;
    int b = -1;
  };

  /// What a swap takes off, above all where that costs nothing, otherwise per cost; the same in any unit of bytes.
  using Worth = std::pair<bool, double>;
  [[nodiscard]] static Worth worth_of(std::int64_t taken_off, std::int64_t price) {
    if (taken_off <= 0) return {};
    const auto gain = static_cast<double>(taken_off);
    return price <= 0 ? Worth(true, gain) : Worth(false, gain / static_cast<double>(price));
  }

  void add(const UnitFlow& flow) {
    if (flow.from == flow.to || flow.bytes == 0) return;
    flows_of_[flow.from].push_back(flows_.size());
    flows_of_[flow.to].push_back(flows_.size());
    flows_.push_back(flow);
    put(flow, 1);
  }

  /// Of the units whose flows pass the link that carries most above what is allowed.
  Pair best_swap() {
    Pair best;
    Worth most;
    const std::int64_t cost_now = cost_;
    const std::int64_t excess_now = excess_;
    for (const int a : units_over(fullest_link())) {
      for (int b = 0; b < static_cast<int>(at_.size()); ++b) {
        if (a == b || looks_left_ <= 0) continue;
        swap(a, b);
        const Worth worth = worth_of(excess_now - excess_, cost_ - cost_now);
        swap(a, b);
        if (worth <= most) continue;
        most = worth;
        best = {a, b};
      }
    }
    return best;
  }

  [[nodiscard]] int fullest_link() const {
    int fullest = 0;
    for (int link = 0; link < static_cast<int>(bytes_.size()); ++link) {
      if (excess_of(link) > excess_of(fullest)) fullest = link;
    }
    return fullest;
  }

  [[nodiscard]] std::vector<int> units_over(int link) {
    std::vector<int> units;
    for (const UnitFlow& flow : flows_) {
      if (host_of(flow.from) == host_of(flow.to)) continue;
      find_paths(flow);
      const bool passes =
          std::ranges::any_of(paths_, [&](const Path& path) { return std::ranges::count(path, link) > 0; });
      if (passes) units.insert(units.end(), {flow.from, flow.to});
    }
    std::ranges::sort(units);
    units.erase(std::unique(units.begin(), units.end()), units.end());
    return units;
  }

  void swap(int a, int b) {
    put_all(a, b, -1);
    std::swap(at_[a], at_[b]);
    put_all(a, b, 1);
  }

  void put_all(int a, int b, int sign) {
    for (const std::size_t flow : flows_of_[a]) put(flows_[flow], sign);
    for (const std::size_t flow : flows_of_[b]) {
      if (flows_[flow].from != a && flows_[flow].to != a) put(flows_[flow], sign);
    }
  }

  /// Adds a flow where its units are now, or takes it off.
  void put(const UnitFlow& flow, int sign) {
    cost_ += sign * static_cast<std::int64_t>(flow.bytes) * cost_of(flow);
    if (host_of(flow.from) == host_of(flow.to)) return;
    find_paths(flow);
    const std::uint64_t least = flow.bytes / paths_.size();
    const std::uint64_t left = flow.bytes % paths_.size();
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      const std::uint64_t share = least + (i < left ? 1 : 0);
      for (const int link : paths_[i]) {
        excess_ -= excess_of(link);
        bytes_[link] += sign * static_cast<std::int64_t>(share);
        excess_ += excess_of(link);
      }
      looks_left_ -= static_cast<std::int64_t>(paths_[i].size());
    }
  }

  [[nodiscard]] int host_of(int unit) const {
    return unit_ == Unit::host ? at_[unit] : fabric_.host_of(at_[unit]);
  }

  [[nodiscard]] std::int64_t cost_of(const UnitFlow& flow) const {
    const int a = at_[flow.from];
    const int b = at_[flow.to];
    return unit_ == Unit::host ? fabric_.host_cost(a, b) : fabric_.cost(a, b);
  }

  void find_paths(const UnitFlow& flow) {
    fabric_.network()->find_paths(fabric_.endpoint_of(host_of(flow.from)),
                                  fabric_.endpoint_of(host_of(flow.to)), problem_.routing, paths_);
  }

  [[nodiscard]] std::int64_t excess_of(int link) const {
    return std::max<std::int64_t>(bytes_[link] - allowed_[link], 0);
  }

  const MappingProblem& problem_;
  const Fabric& fabric_;
  Unit unit_;
  std::vector<int> at_;
  std::int64_t& looks_left_;
  std::vector<UnitFlow> flows_;  // between units
  std::vector<std::vector<std::size_t>> flows_of_;
  std::vector<std::int64_t> bytes_;    // over each link
  std::vector<std::int64_t> allowed_;  // the same
  std::int64_t excess_ = 0;            // of all links together
  std::int64_t cost_ = 0;
  std::vector<Path> paths_;
};

}  // namespace

std::optional<Slots> relieved(const MappingProblem& problem, Slots slots, double largest_load) {
  const Fabric& fabric = problem.fabric;
  if (fabric.network() == nullptr || problem.traffic.entries().size() > most_entries) return std::nullopt;
  std::int64_t looks_left = most_relief_looks;
  if (fabric.has_equal_hosts()) {
    Relief hosts(problem, Unit::host, slots, largest_load, looks_left);
    const bool is_done = hosts.run();
    for (int& slot : slots)
      slot = fabric.slots_of(hosts.at()[fabric.host_of(slot)])[fabric.index_in_host(slot)];
    if (is_done) return slots;
  }
  Relief ranks(problem, Unit::rank, slots, largest_load, looks_left);
  return ranks.run() ? std::optional(ranks.at()) : std::nullopt;
}

}  // namespace selvage::topo
