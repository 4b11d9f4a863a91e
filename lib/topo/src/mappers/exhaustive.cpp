#include "mapper.hpp"

#include <algorithm>
#include <numeric>

namespace selvage::topo {
namespace {

constexpr int most_slots = 9;

/// Branch and bound: a partial placement that already costs as much as the best whole one is given up.
class Search {
 public:
  explicit Search(const MapperInput& input)
      : input_(input), order_(static_cast<std::size_t>(input.graph.size)), slots_(order_.size(), -1) {
    std::iota(order_.begin(), order_.end(), 0);
    // Heavy ranks first, so that bad placements show early.
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int a, int b) { return input.graph.degree(a) > input.graph.degree(b); });
    best_ = *map_by_rank(input);
    least_ = total_cost(input, best_);
  }

  Slots run() {
    descend(0, 0);
    return best_;
  }

 private:
  void descend(std::size_t depth, std::uint64_t cost) {
    if (cost >= least_) return;
    if (depth == order_.size()) {
      least_ = cost;
      best_ = slots_;
      return;
    }
    const int rank = order_[depth];
    for (int slot = 0; slot < input_.graph.size; ++slot) {
      if ((taken_ >> slot & 1U) != 0) continue;
      slots_[rank] = slot;
      taken_ |= 1U << slot;
      descend(depth + 1, cost + cost_of(rank));
      taken_ &= ~(1U << slot);
      slots_[rank] = -1;
    }
  }

  /// To the ranks that are placed already.
  [[nodiscard]] std::uint64_t cost_of(int rank) const {
    const GuestGraph& graph = input_.graph;
    std::uint64_t cost = 0;
    for (std::size_t edge = graph.first[rank]; edge < graph.first[rank + 1]; ++edge) {
      const int other = slots_[graph.neighbours[edge]];
      if (other >= 0) cost += graph.weights[edge] * input_.fabric.cost(slots_[rank], other);
    }
    return cost;
  }

  const MapperInput& input_;
  std::vector<int> order_;
  Slots slots_;
  Slots best_;
  std::uint64_t least_ = 0;
  unsigned taken_ = 0;
};

}  // namespace

std::optional<Slots> map_exhaustively(const MapperInput& input) {
  if (input.graph.size > most_slots || !input.graph.has_edges()) return std::nullopt;
  return Search(input).run();
}

}  // namespace selvage::topo
