#pragma once

#include <vector>

namespace selvage::detail {

/// Who hands values to whom in a group, from one place in it. Place 0 is the root.
struct ReductionTree {
  int parent = -1;            ///< none at the root
  std::vector<int> children;  ///< in the order in which their values come behind those of this place
  /// How many of its children's values a rank keeps at a time; child i fills slot i % slots.
  int slots = 0;

  [[nodiscard]] bool is_root() const { return parent < 0; }
  [[nodiscard]] bool is_leaf() const { return children.empty(); }
};
using MakeTree = ReductionTree (*)(int place, int size);

/// All hand theirs to place 0, with a slot each.
[[nodiscard]] ReductionTree flat_tree(int place, int size);
/// On level l = 0, 1, ... places at a distance of 2^l meet, and those with bit l set are done: they have handed theirs
/// to the one without. For any size. Two slots take turns, so that a child of the next level may come early.
[[nodiscard]] ReductionTree binomial_tree(int place, int size);

}  // namespace selvage::detail
