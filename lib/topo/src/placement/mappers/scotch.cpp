#include "placement/mapper.hpp"
#include "placement/repair.hpp"
#include "scotch_handles.hpp"

#include <selvage/topo/placement.hpp>

#include <algorithm>
#include <limits>
#include <mutex>

namespace selvage::topo {
namespace {

/// 2000 slots, each for one rank, take 2.2 GB and 10 s, 1000 take 0.5 and 1; with more slots, only hosts are targets.
constexpr int most_slots = 1280;
/// With several ranks to each, 2000 hosts take 0.2 GB and 5 s.
constexpr int most_hosts = 2000;

template <typename Cost>
Targets targets_of(int count, std::vector<int> capacity, const Cost& cost) {
  Targets targets{.count = count, .capacity = std::move(capacity), .costs = {}};
  targets.costs.reserve(static_cast<std::size_t>(count) * count);
  for (int a = 0; a < count; ++a) {
    for (int b = 0; b < count; ++b) targets.costs.push_back(a == b ? 0 : cost(a, b));
  }
  return targets;
}

/// The complete graph of the targets with our costs: SCOTCH takes an edge's weight for the length of the way.
void build_architecture(const Targets& targets, scotch::Context& context,
                        scotch::Architecture& architecture) {
  std::vector<SCOTCH_Num> first = {0};
  std::vector<SCOTCH_Num> neighbours;
  std::vector<SCOTCH_Num> weights;
  for (int a = 0; a < targets.count; ++a) {
    for (int b = 0; b < targets.count; ++b) {
      if (a == b) continue;
      neighbours.push_back(b);
      weights.push_back(static_cast<SCOTCH_Num>(targets.cost(a, b)));
    }
    first.push_back(static_cast<SCOTCH_Num>(neighbours.size()));
  }
  const std::vector<SCOTCH_Num> capacity(targets.capacity.begin(), targets.capacity.end());
  scotch::Graph graph;
  graph.build(first, capacity, neighbours, weights);
  scotch::Graph bound;
  context.bind(graph, bound);
  scotch::Strategy strategy;
  scotch::check(SCOTCH_archBuild0(architecture.get(), bound.get(), 0, nullptr, strategy.get()),
                "SCOTCH_archBuild0");
}

/// The target of each vertex; some targets may get more than they hold.
std::vector<SCOTCH_Num> map_graph(const GuestGraph& guest, const Targets& targets, std::uint64_t seed) {
  // SCOTCH adds up weights times costs in its own integers, in both directions.
  const std::uint32_t largest = *std::max_element(targets.costs.begin(), targets.costs.end());
  const auto limit = std::min<std::uint64_t>(std::numeric_limits<SCOTCH_Num>::max(), (1ULL << 31) - 1);
  const std::vector<std::uint64_t> scaled = scaled_weights(guest.weights, largest, limit);
  const std::vector<SCOTCH_Num> weights(scaled.begin(), scaled.end());
  const std::vector<SCOTCH_Num> first(guest.first.begin(), guest.first.end());
  const std::vector<SCOTCH_Num> neighbours(guest.neighbours.begin(), guest.neighbours.end());
  const auto scotch_seed = static_cast<SCOTCH_Num>(seed % 1000003 + 1);
  // What has no context of its own draws from SCOTCH's global generator, which other threads mustn't advance meanwhile.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  SCOTCH_randomSeed(scotch_seed);
  SCOTCH_randomReset();
  // A graph without a context gets as many threads as the machine has cores, and an answer that hangs on them.
  scotch::Context architecture_context(scotch_seed);
  scotch::Architecture architecture;
  build_architecture(targets, architecture_context, architecture);
  scotch::Graph graph;
  graph.build(first, {}, neighbours, weights);
  scotch::Context context(scotch_seed);
  scotch::Graph bound;
  context.bind(graph, bound);
  scotch::Strategy strategy;
  std::vector<SCOTCH_Num> targets_of_ranks(static_cast<std::size_t>(guest.size));
  scotch::check(SCOTCH_graphMap(bound.get(), architecture.get(), strategy.get(), targets_of_ranks.data()),
                "SCOTCH_graphMap");
  return targets_of_ranks;
}

std::vector<int> mapped_to(const MapperInput& input, const Targets& targets) {
  const std::vector<SCOTCH_Num> mapped = map_graph(input.graph, targets, input.seed);
  return repaired(input.graph, targets, std::vector<std::int64_t>(mapped.begin(), mapped.end()));
}

/// Hosts first, then their slots in the order of the ranks.
Slots map_hosts_first(const MapperInput& input) {
  const Fabric& fabric = input.fabric;
  std::vector<int> capacity;
  for (int host = 0; host < fabric.host_count(); ++host) capacity.push_back(fabric.host(host).slots);
  const std::vector<int> hosts =
      mapped_to(input, targets_of(fabric.host_count(), std::move(capacity),
                                  [&](int a, int b) { return fabric.host_cost(a, b); }));
  std::vector<std::size_t> next(static_cast<std::size_t>(fabric.host_count()), 0);
  Slots slots;
  for (const int host : hosts) slots.push_back(fabric.slots_of(host)[next[host]++]);
  return slots;
}

}  // namespace

std::optional<Slots> map_by_scotch(const MapperInput& input) {
  if (!input.graph.has_edges() || input.fabric.is_flat() || input.graph.size > most_slots)
    return std::nullopt;
  const std::vector<int> one_each(static_cast<std::size_t>(input.graph.size), 1);
  return mapped_to(
      input, targets_of(input.graph.size, one_each, [&](int a, int b) { return input.fabric.cost(a, b); }));
}

std::optional<Slots> map_hosts_by_scotch(const MapperInput& input) {
  const int hosts = input.fabric.host_count();
  const bool has_levels = hosts > 1 && hosts < input.graph.size && hosts <= most_hosts;
  if (!input.graph.has_edges() || !has_levels) return std::nullopt;
  return map_hosts_first(input);
}

bool has_scotch() {
  return true;
}

}  // namespace selvage::topo
