#include "placement/mapper.hpp"

#include <algorithm>
#include <numeric>

namespace selvage::topo {
namespace {

/// Up to here each vertex is tried against all others, above only against those at the places near its neighbours.
constexpr int try_all_up_to = 1024;
constexpr int most_passes = 24;
constexpr int most_rounds = 4;
/// Edges that one refinement looks at: seconds, since with more hosts their costs don't fit a cache. Only where vertices have
/// many neighbours is it used up.
constexpr std::int64_t most_swap_looks = 4'000'000'000;
constexpr std::int64_t most_looks_of_many_hosts = 400'000'000;
constexpr std::ptrdiff_t hosts_near_each = 8;

/// Vertices at places, and what swapping two of them changes. \tparam Cost  a function of two places, 0 from one to itself
template <typename Cost>
class Swapper {
 public:
  /// \param looks_left  edges that may still be looked at; counted down. Without any, nothing is improved
  Swapper(const GuestGraph& graph, std::vector<int> at, const Cost& cost, std::int64_t& looks_left)
      : graph_(graph),
        at_(std::move(at)),
        vertex_at_(at_.size()),
        between_(at_.size(), 0),
        cost_(cost),
        looks_left_(looks_left) {
    for (std::size_t vertex = 0; vertex < at_.size(); ++vertex)
      vertex_at_[at_[vertex]] = static_cast<int>(vertex);
    for (int vertex = 0; vertex < graph.size; ++vertex) costs_.push_back(cost_of(vertex, at_[vertex]));
  }

  [[nodiscard]] const std::vector<int>& at() const { return at_; }

  /// The best partner of a vertex among `places` is swapped with it, if one pays.
  template <typename Places>
  bool improve(int vertex, const Places& places) {
    if (looks_left_ < 0) return false;
    price(vertex, places);
    const int partner = best_partner(vertex, places);
    for (std::size_t edge = graph_.first[vertex]; edge < graph_.first[vertex + 1]; ++edge)
      between_[graph_.neighbours[edge]] = 0;
    if (partner < 0) return false;
    exchange(vertex, partner);
    return true;
  }

 private:
  [[nodiscard]] std::int64_t edges_of(int vertex) const {
    return static_cast<std::int64_t>(graph_.first[vertex + 1] - graph_.first[vertex]);
  }

  /// What a vertex's edges would cost if it were at `place`.
  [[nodiscard]] std::int64_t cost_of(int vertex, int place) const {
    std::int64_t cost = 0;
    for (std::size_t edge = graph_.first[vertex]; edge < graph_.first[vertex + 1]; ++edge)
      cost += static_cast<std::int64_t>(graph_.weights[edge]) * cost_(place, at_[graph_.neighbours[edge]]);
    return cost;
  }

  /// The same at all places, neighbour by neighbour, so that the costs from one place are read in a row.
  template <typename Places>
  void price(int vertex, const Places& places) {
    prices_.assign(places.size(), 0);
    for (std::size_t edge = graph_.first[vertex]; edge < graph_.first[vertex + 1]; ++edge) {
      const int there = at_[graph_.neighbours[edge]];
      const auto weight = static_cast<std::int64_t>(graph_.weights[edge]);
      between_[graph_.neighbours[edge]] = weight;
      for (std::size_t i = 0; i < places.size(); ++i) prices_[i] += weight * cost_(there, places[i]);
    }
  }

  template <typename Places>
  [[nodiscard]] int best_partner(int vertex, const Places& places) {
    const int here = at_[vertex];
    std::int64_t least = 0;
    int partner = -1;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const int other = vertex_at_[places[i]];
      if (other == vertex) continue;
      if (looks_left_ < 0) break;
      looks_left_ -= edges_of(vertex) + edges_of(other);
      // The edge between the two keeps its length, but both ends would have lost it.
      const std::int64_t change = prices_[i] - costs_[vertex] + cost_of(other, here) - costs_[other] +
                                  2 * between_[other] * cost_(here, places[i]);
      if (change >= least) continue;
      least = change;
      partner = other;
    }
    return partner;
  }

  void exchange(int a, int b) {
    add_to_neighbours(a, -1);
    add_to_neighbours(b, -1);
    std::swap(vertex_at_[at_[a]], vertex_at_[at_[b]]);
    std::swap(at_[a], at_[b]);
    add_to_neighbours(a, 1);
    add_to_neighbours(b, 1);
    for (const int vertex : {a, b}) costs_[vertex] = cost_of(vertex, at_[vertex]);
  }

  void add_to_neighbours(int vertex, int sign) {
    for (std::size_t edge = graph_.first[vertex]; edge < graph_.first[vertex + 1]; ++edge) {
      const int other = graph_.neighbours[edge];
      costs_[other] +=
          sign * static_cast<std::int64_t>(graph_.weights[edge]) * cost_(at_[vertex], at_[other]);
    }
  }

  const GuestGraph& graph_;
  std::vector<int> at_;
  std::vector<int> vertex_at_;
  std::vector<std::int64_t> costs_;    // of each vertex's edges
  std::vector<std::int64_t> prices_;   // of the vertex looked at, by number of the place
  std::vector<std::int64_t> between_;  // its weight to each other vertex
  const Cost& cost_;
  std::int64_t& looks_left_;
};

/// The slots of all hosts that hold neighbours of a rank, ascending.
std::vector<int> slots_near_neighbours(const MapperInput& input, const std::vector<int>& slots, int rank) {
  std::vector<int> hosts;
  for (std::size_t edge = input.graph.first[rank]; edge < input.graph.first[rank + 1]; ++edge) {
    hosts.push_back(input.fabric.host_of(slots[input.graph.neighbours[edge]]));
  }
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  std::vector<int> near;
  for (const int host : hosts) {
    near.insert(near.end(), input.fabric.slots_of(host).begin(), input.fabric.slots_of(host).end());
  }
  return near;
}

/// \return whether anything was gained
bool swap_ranks(const MapperInput& input, Slots& slots, std::int64_t& looks_left) {
  const auto cost = [&](int a, int b) { return input.fabric.cost(a, b); };
  Swapper swapper(input.graph, slots, cost, looks_left);
  Slots all(slots.size());
  std::iota(all.begin(), all.end(), 0);
  bool gained = false;
  for (int pass = 0; pass < most_passes; ++pass) {
    bool improved = false;
    for (int rank = 0; rank < input.graph.size; ++rank) {
      const bool every = input.graph.size <= try_all_up_to;
      improved |= every ? swapper.improve(rank, all)
                        : swapper.improve(rank, slots_near_neighbours(input, swapper.at(), rank));
    }
    gained |= improved;
    if (!improved) break;
  }
  slots = swapper.at();
  return gained;
}

bool has_hosts_to_swap(const Fabric& fabric) {
  return fabric.has_equal_hosts() && fabric.host_count() >= 3;
}

/// The few hosts that are nearest to each one, itself first.
std::vector<std::vector<int>> nearest_hosts(const Fabric& fabric) {
  std::vector<int> hosts(static_cast<std::size_t>(fabric.host_count()));
  std::vector<std::vector<int>> nearest;
  for (int here = 0; here < fabric.host_count(); ++here) {
    const auto costs = fabric.host_costs_from(here);
    const auto is_nearer = [&](int a, int b) { return std::pair(costs[a], a) < std::pair(costs[b], b); };
    std::iota(hosts.begin(), hosts.end(), 0);
    std::ranges::partial_sort(hosts, hosts.begin() + hosts_near_each, is_nearer);
    nearest.emplace_back(hosts.begin(), hosts.begin() + hosts_near_each);
  }
  return nearest;
}

/// The hosts near to those of a group's neighbours, ascending.
std::vector<int> hosts_near_neighbours(const GuestGraph& groups, const std::vector<int>& at, int group,
                                       const std::vector<std::vector<int>>& nearest) {
  std::vector<int> near;
  for (std::size_t edge = groups.first[group]; edge < groups.first[group + 1]; ++edge) {
    const std::vector<int>& around = nearest[at[groups.neighbours[edge]]];
    near.insert(near.end(), around.begin(), around.end());
  }
  std::ranges::sort(near);
  near.erase(std::unique(near.begin(), near.end()), near.end());
  return near;
}

/// Swaps whole hosts, which must be alike. \param nearest  empty: each is tried everywhere
/// \return whether anything was gained
bool swap_hosts(const MapperInput& input, const std::vector<std::vector<int>>& nearest, Slots& slots,
                std::int64_t& looks_left) {
  const Fabric& fabric = input.fabric;
  if (!has_hosts_to_swap(fabric)) return false;
  std::vector<int> group_of;
  for (const int slot : slots) group_of.push_back(fabric.host_of(slot));
  const GuestGraph groups = grouped(input.graph, group_of, fabric.host_count());
  std::vector<int> hosts(static_cast<std::size_t>(fabric.host_count()));
  std::iota(hosts.begin(), hosts.end(), 0);
  const std::vector<int> all = hosts;
  const auto cost = [&](int a, int b) { return fabric.host_cost(a, b); };
  Swapper swapper(groups, hosts, cost, looks_left);
  bool gained = false;
  for (int pass = 0; pass < most_passes; ++pass) {
    bool improved = false;
    for (int group = 0; group < groups.size; ++group)
      improved |= nearest.empty()
                      ? swapper.improve(group, all)
                      : swapper.improve(group, hosts_near_neighbours(groups, swapper.at(), group, nearest));
    gained |= improved;
    if (!improved) break;
  }
  for (std::size_t rank = 0; rank < slots.size(); ++rank) {
    slots[rank] = fabric.slots_of(swapper.at()[group_of[rank]])[fabric.index_in_host(slots[rank])];
  }
  return gained;
}

}  // namespace

Slots refined_by_swaps(const MapperInput& input, Slots slots) {
  if (!input.graph.has_edges() || input.fabric.is_flat()) return slots;
  const bool are_many_hosts = input.fabric.host_count() > try_all_up_to;
  std::int64_t looks_left = are_many_hosts ? most_looks_of_many_hosts : most_swap_looks;
  const std::vector<std::vector<int>> nearest = are_many_hosts && has_hosts_to_swap(input.fabric)
                                                    ? nearest_hosts(input.fabric)
                                                    : std::vector<std::vector<int>>();
  for (int round = 0; round < most_rounds; ++round) {
    const bool by_hosts = swap_hosts(input, nearest, slots, looks_left);
    const bool by_ranks = swap_ranks(input, slots, looks_left);
    if (!by_hosts && !by_ranks) break;
  }
  return slots;
}

}  // namespace selvage::topo
