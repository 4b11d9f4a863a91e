#include "placement/mapper.hpp"

#include <algorithm>
#include <limits>

namespace selvage::topo {
namespace {

/// Places one rank after the other: the one that has most to do with those placed, where that costs least.
class Greedy {
 public:
  explicit Greedy(const MapperInput& input)
      : graph_(input.graph),
        fabric_(input.fabric),
        slots_(static_cast<std::size_t>(graph_.size), -1),
        taken_(slots_.size(), false),
        drawn_(slots_.size(), 0) {
    for (int host = 0; host < fabric_.host_count(); ++host) free_.push_back(fabric_.host(host).slots);
    for (int rank = 0; rank < graph_.size; ++rank) degrees_.push_back(graph_.degree(rank));
  }

  Slots run() {
    for (int placed = 0; placed < graph_.size; ++placed) {
      const int rank = next_rank();
      const int slot = best_slot(rank);
      slots_[rank] = slot;
      taken_[slot] = true;
      --free_[fabric_.host_of(slot)];
      for (std::size_t edge = graph_.first[rank]; edge < graph_.first[rank + 1]; ++edge) {
        drawn_[graph_.neighbours[edge]] += graph_.weights[edge];
      }
    }
    return slots_;
  }

 private:
  /// The unplaced rank that is drawn most, or without one the heaviest; the lowest of equals.
  [[nodiscard]] int next_rank() const {
    int best = -1;
    for (int rank = 0; rank < graph_.size; ++rank) {
      if (slots_[rank] >= 0) continue;
      if (best < 0 || drawn_[rank] > drawn_[best] ||
          (drawn_[rank] == drawn_[best] && degrees_[rank] > degrees_[best])) {
        best = rank;
      }
    }
    return best;
  }

  /// A rank that nothing draws starts on the host with most room, for those that it will draw.
  [[nodiscard]] int first_slot() const {
    const auto roomiest = std::max_element(free_.begin(), free_.end());
    const std::vector<int>& slots = fabric_.slots_of(static_cast<int>(roomiest - free_.begin()));
    return *std::find_if(slots.begin(), slots.end(), [&](int slot) { return !taken_[slot]; });
  }

  [[nodiscard]] int best_slot(int rank) {
    if (drawn_[rank] == 0) return first_slot();
    find_costs_outside(rank);
    int best = -1;
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (int host = 0; host < fabric_.host_count(); ++host) {
      if (free_[host] == 0 || outside_[host] >= least) continue;
      for (const int slot : fabric_.slots_of(host)) {
        if (taken_[slot]) continue;
        const std::uint64_t cost = cost_at(rank, slot);
        if (cost >= least) continue;
        least = cost;
        best = slot;
      }
    }
    return best;
  }

  /// What each host costs at least: the way to placed ranks elsewhere.
  void find_costs_outside(int rank) {
    outside_.assign(free_.size(), 0);
    for (std::size_t edge = graph_.first[rank]; edge < graph_.first[rank + 1]; ++edge) {
      const int slot = slots_[graph_.neighbours[edge]];
      if (slot < 0) continue;
      const auto costs = fabric_.host_costs_from(fabric_.host_of(slot));
      for (std::size_t host = 0; host < costs.size(); ++host)
        outside_[host] += graph_.weights[edge] * costs[host];
    }
  }

  [[nodiscard]] std::uint64_t cost_at(int rank, int slot) const {
    std::uint64_t cost = 0;
    for (std::size_t edge = graph_.first[rank]; edge < graph_.first[rank + 1]; ++edge) {
      const int other = slots_[graph_.neighbours[edge]];
      if (other >= 0) cost += graph_.weights[edge] * fabric_.cost(slot, other);
    }
    return cost;
  }

  const GuestGraph& graph_;
  const Fabric& fabric_;
  Slots slots_;
  std::vector<bool> taken_;
  std::vector<std::uint64_t> drawn_;  // each rank's bytes to those placed
  std::vector<std::uint64_t> degrees_;
  std::vector<int> free_;               // slots of each host
  std::vector<std::uint64_t> outside_;  // what each host costs the rank that is placed
};

}  // namespace

std::optional<Slots> map_greedily(const MapperInput& input) {
  if (!input.graph.has_edges()) return std::nullopt;
  return Greedy(input).run();
}

}  // namespace selvage::topo
