#include <selvage/comm/box.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>
#include <vector>

namespace selvage {
namespace {

template <int D>
std::multiset<std::array<std::int64_t, D>> cells_of(const std::vector<Box<D>>& boxes) {
  std::multiset<std::array<std::int64_t, D>> cells;
  for (const Box<D>& box : boxes) {
    for (std::int64_t i = 0; i < box.cells(); ++i) {
      auto rest = i;
      std::array<std::int64_t, D> cell;
      for (int axis = D - 1; axis >= 0; --axis) {
        cell[axis] = box.begin[axis] + rest % box.extent(axis);
        rest /= box.extent(axis);
      }
      cells.insert(cell);
    }
  }
  return cells;
}

template <int D>
void expect_exact_difference(const Box<D>& outer, const Box<D>& inner) {
  auto expected = cells_of<D>({outer});
  for (const auto& cell : cells_of<D>({inner})) expected.erase(cell);
  EXPECT_EQ(cells_of<D>(without(outer, inner)), expected);
}

TEST(Box, DifferenceOfBoxesHoldsEachOuterCellOnce) {
  expect_exact_difference<2>({{0, 0}, {6, 5}}, {{1, 1}, {5, 4}});
  expect_exact_difference<2>({{0, 0}, {6, 5}}, {{0, 1}, {6, 4}});
  expect_exact_difference<2>({{2, 3}, {6, 5}}, {{2, 3}, {6, 5}});
  expect_exact_difference<3>({{0, 0, 0}, {4, 5, 6}}, {{1, 1, 1}, {3, 4, 5}});
  expect_exact_difference<3>({{0, 0, 0}, {4, 5, 6}}, {{0, 2, 0}, {4, 3, 5}});
}

TEST(Box, NothingTakenAwayLeavesTheBoxWhole) {
  const Box<2> outer{{0, 0}, {3, 4}};
  const auto rest = without(outer, Box<2>{{1, 2}, {1, 2}});
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0], outer);
}

TEST(Box, OneThatEndsBeforeItBeginsIsEmpty) {
  EXPECT_FALSE(is_empty(Box<2>{{1, 1}, {2, 2}}));
  EXPECT_TRUE(is_empty(Box<2>{{1, 1}, {2, 1}}));
  EXPECT_TRUE(is_empty(Box<2>{{3, 1}, {2, 9}}));
}

}  // namespace
}  // namespace selvage
