#include "repair.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace selvage::topo {
namespace {

std::vector<int> ranks_by_weight(const GuestGraph& graph) {
  std::vector<int> order(static_cast<std::size_t>(graph.size));
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::uint64_t> degrees;
  for (int rank = 0; rank < graph.size; ++rank) degrees.push_back(graph.degree(rank));
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return degrees[a] > degrees[b]; });
  return order;
}

/// The cheapest target with room.
int cheapest(const GuestGraph& graph, const Targets& targets, int rank, const std::vector<int>& room,
             const std::vector<int>& target_of) {
  int best = -1;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (int target = 0; target < targets.count; ++target) {
    if (room[target] == 0) continue;
    std::uint64_t cost = 0;
    for (std::size_t edge = graph.first[rank]; edge < graph.first[rank + 1]; ++edge) {
      const int there = target_of[graph.neighbours[edge]];
      if (there >= 0) cost += graph.weights[edge] * targets.cost(target, there);
    }
    if (cost >= least) continue;
    least = cost;
    best = target;
  }
  return best;
}

}  // namespace

std::vector<int> repaired(const GuestGraph& graph, const Targets& targets,
                          const std::vector<std::int64_t>& mapped) {
  std::vector<int> room = targets.capacity;
  std::vector<int> target_of(mapped.size(), -1);
  const auto take = [&](int rank, int target) {
    target_of[rank] = target;
    --room[target];
  };
  const std::vector<int> order = ranks_by_weight(graph);
  for (const int rank : order) {
    const std::int64_t target = mapped[rank];
    if (target >= 0 && target < targets.count && room[target] > 0) take(rank, static_cast<int>(target));
  }
  for (const int rank : order) {
    if (target_of[rank] < 0) take(rank, cheapest(graph, targets, rank, room, target_of));
  }
  return target_of;
}

}  // namespace selvage::topo
