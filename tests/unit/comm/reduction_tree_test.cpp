#include "collectives/algorithms/reduction_tree.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace selvage::detail {
namespace {

/// Places below one, itself first, in the order in which their values are combined.
std::vector<int> order_below(MakeTree make_tree, int place, int size) {
  std::vector<int> order{place};
  for (const int child : make_tree(place, size).children) {
    EXPECT_EQ(make_tree(child, size).parent, place);
    const std::vector<int> below = order_below(make_tree, child, size);
    order.insert(order.end(), below.begin(), below.end());
  }
  return order;
}

int depth_of(MakeTree make_tree, int place, int size) {
  const int parent = make_tree(place, size).parent;
  return parent < 0 ? 0 : 1 + depth_of(make_tree, parent, size);
}

class ReductionTrees : public testing::TestWithParam<MakeTree> {};
INSTANTIATE_TEST_SUITE_P(Both, ReductionTrees, testing::Values(flat_tree, binomial_tree),
                         [](const auto& tested) { return tested.param == flat_tree ? "flat" : "binomial"; });

TEST_P(ReductionTrees, CombineAllPlacesInOrder) {
  for (int size = 1; size <= 33; ++size) {
    std::vector<int> all;
    for (int place = 0; place < size; ++place) all.push_back(place);
    EXPECT_EQ(order_below(GetParam(), 0, size), all) << size;
  }
}

TEST(ReductionTree, IsAsDeepAsItsLevels) {
  EXPECT_EQ(depth_of(flat_tree, 32, 33), 1);
  EXPECT_EQ(depth_of(binomial_tree, 7, 8), 3);
  EXPECT_EQ(depth_of(binomial_tree, 8, 9), 1);
}

TEST(ReductionTree, KeepsTwoSlotsWhateverItsSize) {
  EXPECT_EQ(binomial_tree(0, 1).slots, 0);
  EXPECT_EQ(binomial_tree(0, 2).slots, 1);
  EXPECT_EQ(binomial_tree(0, 64).slots, 2);
  EXPECT_EQ(binomial_tree(0, 64).children.size(), 6U);
  EXPECT_EQ(flat_tree(0, 64).slots, 63);
}

}  // namespace
}  // namespace selvage::detail
