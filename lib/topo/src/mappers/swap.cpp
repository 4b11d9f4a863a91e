#include "mapper.hpp"

#include <algorithm>
#include <numeric>

namespace selvage::topo {
namespace {

/// Up to here each vertex is tried against all others, above only against those at the places near its neighbours.
constexpr int try_all_up_to = 1024;
constexpr int most_passes = 24;
constexpr int most_rounds = 4;

/// Vertices at places, and what swapping two of them changes. \tparam Cost  a function of two places
template <typename Cost>
class Swapper {
 public:
  Swapper(const GuestGraph& graph, std::vector<int> at, const Cost& cost)
      : graph_(graph), at_(std::move(at)), vertex_at_(at_.size()), cost_(cost) {
    for (std::size_t vertex = 0; vertex < at_.size(); ++vertex)
      vertex_at_[at_[vertex]] = static_cast<int>(vertex);
  }

  [[nodiscard]] const std::vector<int>& at() const { return at_; }
  [[nodiscard]] int vertex_at(int place) const { return vertex_at_[place]; }

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
bool swap_ranks(const MapperInput& input, Slots& slots) {
  const auto cost = [&](int a, int b) { return input.fabric.cost(a, b); };
  Swapper swapper(input.graph, slots, cost);
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

/// Swaps whole hosts, which must be alike. \return whether anything was gained
bool swap_hosts(const MapperInput& input, Slots& slots) {
  const Fabric& fabric = input.fabric;
  if (!fabric.has_equal_hosts() || fabric.host_count() < 3) return false;
  std::vector<int> group_of;
  for (const int slot : slots) group_of.push_back(fabric.host_of(slot));
  const GuestGraph groups = grouped(input.graph, group_of, fabric.host_count());
  std::vector<int> hosts(static_cast<std::size_t>(fabric.host_count()));
  std::iota(hosts.begin(), hosts.end(), 0);
  const std::vector<int> all = hosts;
  const auto cost = [&](int a, int b) { return a == b ? 0U : fabric.host_cost(a, b); };
  Swapper swapper(groups, hosts, cost);
  bool gained = false;
  for (int pass = 0; pass < most_passes; ++pass) {
    bool improved = false;
    for (int group = 0; group < groups.size; ++group) improved |= swapper.improve(group, all);
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
  for (int round = 0; round < most_rounds; ++round) {
    const bool by_hosts = swap_hosts(input, slots);
    const bool by_ranks = swap_ranks(input, slots);
    if (!by_hosts && !by_ranks) break;
  }
  return slots;
}

}  // namespace selvage::topo
