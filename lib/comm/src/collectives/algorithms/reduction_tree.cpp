#include "reduction_tree.hpp"

#include <algorithm>

namespace selvage::detail {

ReductionTree flat_tree(int place, int size) {
  ReductionTree tree;
  if (place > 0) {
    tree.parent = 0;
    return tree;
  }
  for (int child = 1; child < size; ++child) tree.children.push_back(child);
  tree.slots = size - 1;
  return tree;
}

ReductionTree binomial_tree(int place, int size) {
  ReductionTree tree;
  for (int distance = 1; distance < size; distance *= 2) {
    if ((place & distance) != 0) {
      tree.parent = place - distance;
      break;
    }
    if (place + distance < size) tree.children.push_back(place + distance);
  }
  tree.slots = std::min<int>(2, static_cast<int>(tree.children.size()));
  return tree;
}

}  // namespace selvage::detail
