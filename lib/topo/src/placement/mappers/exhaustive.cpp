#include "placement/mapper.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace selvage::topo {
namespace {

constexpr std::size_t most_ranks = 9;
/// About a second. All placements of 9 ranks in 9 slots take 986409, those of more slots fewer by their symmetry or too many.
constexpr std::int64_t most_steps = 20'000'000;
constexpr std::int64_t steps_to_accept = 100;

/// Branch and bound over the ranks that send or receive: a partial placement that can't become cheaper than the best whole
/// one is given up.
class Search {
 public:
  Search(const MapperInput& input, const Accepts& accepts)
      : input_(input), accepts_(accepts), slots_(static_cast<std::size_t>(input.graph.size), -1) {
    for (int rank = 0; rank < input.graph.size; ++rank) {
      if (input.graph.first[rank] < input.graph.first[rank + 1]) order_.push_back(rank);
    }
    // Heavy ranks first, so that bad placements show early.
    std::ranges::stable_sort(order_, std::ranges::greater(),
                             [&](int rank) { return input.graph.degree(rank); });
  }

  [[nodiscard]] bool suits() const { return !order_.empty() && order_.size() <= most_ranks; }

  void run(std::uint64_t below) {
    least_ = below;
    taken_.assign(slots_.size(), false);
    for (int host = 0; host < input_.fabric.host_count(); ++host) alike_.push_back(has_slots_alike(host));
    bound_rest();
    descend(0, 0);
  }

  /// Whether all that could be better was looked at.
  [[nodiscard]] bool is_complete() const { return steps_ <= most_steps; }
  /// The first of the cheapest that cost less than was asked for and were accepted; empty where there is none.
  [[nodiscard]] Slots best() && { return std::move(best_); }

 private:
  void descend(std::size_t depth, std::uint64_t cost) {
    if (cost + rest_[depth] >= least_ || !is_complete()) return;
    if (depth == order_.size()) {
      take(cost);
      return;
    }
    const int rank = order_[depth];
    for (int host = 0; host < input_.fabric.host_count(); ++host) {
      for (const int slot : input_.fabric.slots_of(host)) {
        if (taken_[slot]) continue;
        ++steps_;
        slots_[rank] = slot;
        taken_[slot] = true;
        descend(depth + 1, cost + cost_of(rank));
        taken_[slot] = false;
        slots_[rank] = -1;
        if (alike_[host]) break;
      }
    }
  }

  void take(std::uint64_t cost) {
    Slots whole = slots_;
    int free = 0;
    for (int& slot : whole) {
      if (slot >= 0) continue;
      while (taken_[free]) ++free;
      slot = free++;
    }
    steps_ += steps_to_accept + static_cast<std::int64_t>(whole.size());
    if (!accepts_(whole)) return;
    least_ = cost;
    best_ = std::move(whole);
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

  /// Whether the ways between any two slots of a host cost the same, so that it doesn't matter which one is taken.
  [[nodiscard]] bool has_slots_alike(int host) const {
    const std::vector<int>& slots = input_.fabric.slots_of(host);
    for (const int a : slots) {
      for (const int b : slots) {
        if (a != b && input_.fabric.cost(a, b) != input_.fabric.cost(slots[0], slots[1])) return false;
      }
    }
    return true;
  }

  /// What the ways to the ranks from each depth on cost at least.
  void bound_rest() {
    rest_.assign(order_.size() + 1, 0);
    std::vector<bool> is_placed(slots_.size(), true);
    for (std::size_t depth = order_.size(); depth-- > 0;) {
      const int rank = order_[depth];
      rest_[depth] = rest_[depth + 1];
      is_placed[rank] = false;
      for (std::size_t edge = input_.graph.first[rank]; edge < input_.graph.first[rank + 1]; ++edge) {
        if (is_placed[input_.graph.neighbours[edge]])
          rest_[depth] += input_.graph.weights[edge] * input_.fabric.smallest_cost();
      }
    }
  }

  const MapperInput& input_;
  const Accepts& accepts_;
  std::uint64_t least_ = 0;
  std::vector<int> order_;
  std::vector<std::uint64_t> rest_;  // by depth
  std::vector<bool> alike_;          // of each host's slots
  std::vector<bool> taken_;
  Slots slots_;
  Slots best_;
  std::int64_t steps_ = 0;
};

}  // namespace

std::optional<Slots> map_exhaustively(const MapperInput& input) {
  const Accepts all = [](const Slots&) { return true; };
  Search search(input, all);
  if (!search.suits()) return std::nullopt;
  Slots start = refined_by_swaps(input, *map_by_rank(input));
  search.run(total_cost(input, start));
  if (!search.is_complete()) return std::nullopt;
  Slots better = std::move(search).best();
  return better.empty() ? std::move(start) : std::move(better);
}

std::optional<Slots> map_exhaustively_within(const MapperInput& input, std::uint64_t below,
                                             const Accepts& accepts) {
  Search search(input, accepts);
  if (!search.suits()) return std::nullopt;
  search.run(below);
  Slots best = std::move(search).best();
  return best.empty() ? std::nullopt : std::optional(std::move(best));
}

}  // namespace selvage::topo
