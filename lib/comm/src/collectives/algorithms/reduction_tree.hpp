#pragma once

#include <vector>

namespace selvage::detail {

/// The parent and children of one position in the tree of a group. Position 0 is the root.
struct ReductionTree {
  int parent = -1;  ///< none at the root
  /// In the order in which their values are combined after those of this position.
  std::vector<int> children;
  /// The number of children whose values a rank holds at a time. Child i fills slot i % slots.
  int slots = 0;

  [[nodiscard]] bool is_root() const { return parent < 0; }
  [[nodiscard]] bool is_leaf() const { return children.empty(); }
};
using MakeTree = ReductionTree (*)(int place, int size);

/// All positions send their values to position 0, each to its own slot.
[[nodiscard]] ReductionTree flat_tree(int place, int size);
/// On level l = 0, 1, ... each position with bit l set sends its values to the position without it, at a distance of 2^l, and is then done.
/// For any number of positions. Two slots are used alternately, so that a child of the next level may send early.
[[nodiscard]] ReductionTree binomial_tree(int place, int size);

}  // namespace selvage::detail
