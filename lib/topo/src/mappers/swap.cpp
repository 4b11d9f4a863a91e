#include "mapper.hpp"

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
constexpr std::int64_t most_looks = 4'000'000'000;
constexpr std::int64_t most_looks_of_many_hosts = 400'000'000;
constexpr std::ptrdiff_t hosts_near_each = 8;

/// Vertices at places, and what swapping two of them changes. \tparam Cost  a function of two places
template <typename Cost>
class Swapper {
 public:
  /// \param looks_left  edges that may still be looked at; counted down. Without any, nothing is improved
  Swapper(const GuestGraph& graph, std::vector<int> at, const Cost& cost, std::int64_t& looks_left)
      : graph_(graph), at_(std::move(at)), vertex_at_(at_.size()), cost_(cost), looks_left_(looks_left) {
    for (std::size_t vertex = 0; vertex < at_.size(); ++vertex)
      vertex_at_[at_[vertex]] = static_cast<int>(vertex);
  }

  [[nodiscard]] const std::vector<int>& at() const { return at_; }

  /// What the cost grows by, negative for a gain.
  [[nodiscard]] std::int64_t change(int a, int b) const { return moved(a, b) + moved(b, a); }

  /// The best partner of a vertex among `places` is swapped with it, if one pays.
  template <typename Places>
  bool improve(int vertex, const Places& places) {
    std::int64_t least = 0;
    int partner = -1;
    for (const int place : places) {
      const int other = vertex_at_[place];
      if (other == vertex) continue;
      if (looks_left_ < 0) break;
      looks_left_ -= edges_of(vertex) + edges_of(other);
      const std::int64_t change_now = change(vertex, other);
      if (change_now >= least) continue;
      least = change_now;
      partner = other;
    }
    if (partner < 0) return false;
    std::swap(vertex_at_[at_[vertex]], vertex_at_[at_[partner]]);
    std::swap(at_[vertex], at_[partner]);
    return true;
  }

 private:
  [[nodiscard]] std::int64_t edges_of(int vertex) const {
    return static_cast<std::int64_t>(graph_.first[vertex + 1] - graph_.first[vertex]);
  }

  /// What it changes for `vertex` to be where `other` is; the edge between the two keeps its length.
  [[nodiscard]] std::int64_t moved(int vertex, int other) const {
    std::int64_t change = 0;
    const int from = at_[vertex];
    const int to = at_[other];
    for (std::size_t edge = graph_.first[vertex]; edge < graph_.first[vertex + 1]; ++edge) {
      if (graph_.neighbours[edge] == other) continue;
      const int there = at_[graph_.neighbours[edge]];
      change += static_cast<std::int64_t>(graph_.weights[edge]) *
                (static_cast<std::int64_t>(cost_(to, there)) - static_cast<std::int64_t>(cost_(from, there)));
    }
    return change;
  }

  const GuestGraph& graph_;
  std::vector<int> at_;
  std::vector<int> vertex_at_;
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

/// The few hosts that are nearest to each one, itself first.
std::vector<std::vector<int>> nearest_hosts(const Fabric& fabric) {
  std::vector<int> hosts(static_cast<std::size_t>(fabric.host_count()));
  std::vector<std::vector<int>> nearest;
  for (int here = 0; here < fabric.host_count(); ++here) {
    const auto is_nearer = [&](int a, int b) {
      const auto distance = [&](int host) {
        return std::pair(host == here ? 0U : fabric.host_cost(here, host), host);
      };
      return distance(a) < distance(b);
    };
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

/// Swaps whole hosts, which must be alike. \return whether anything was gained
bool swap_hosts(const MapperInput& input, Slots& slots, std::int64_t& looks_left) {
  const Fabric& fabric = input.fabric;
  if (!fabric.has_equal_hosts() || fabric.host_count() < 3) return false;
  std::vector<int> group_of;
  for (const int slot : slots) group_of.push_back(fabric.host_of(slot));
  const GuestGraph groups = grouped(input.graph, group_of, fabric.host_count());
  std::vector<int> hosts(static_cast<std::size_t>(fabric.host_count()));
  std::iota(hosts.begin(), hosts.end(), 0);
  const std::vector<int> all = hosts;
  const auto cost = [&](int a, int b) { return a == b ? 0U : fabric.host_cost(a, b); };
  Swapper swapper(groups, hosts, cost, looks_left);
  const bool every = fabric.host_count() <= try_all_up_to;
  const std::vector<std::vector<int>> nearest =
      every ? std::vector<std::vector<int>>() : nearest_hosts(fabric);
  bool gained = false;
  for (int pass = 0; pass < most_passes; ++pass) {
    bool improved = false;
    for (int group = 0; group < groups.size; ++group)
      improved |= every ? swapper.improve(group, all)
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
  std::int64_t looks_left =
      input.fabric.host_count() <= try_all_up_to ? most_looks : most_looks_of_many_hosts;
  for (int round = 0; round < most_rounds; ++round) {
    const bool by_hosts = swap_hosts(input, slots, looks_left);
    const bool by_ranks = swap_ranks(input, slots, looks_left);
    if (!by_hosts && !by_ranks) break;
  }
  return slots;
}

}  // namespace selvage::topo
