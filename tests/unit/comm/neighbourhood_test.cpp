#include "layouts/neighbourhood.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace selvage::detail {
namespace {

std::array<int, 3> steps_of(Direction direction) {
  return {component(direction, 0), component(direction, 1), component(direction, 2)};
}

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all{{3, {4, 5, 6}, {{{1, 1}, {1, 1}, {1, 1}}}},
                                      {3, {4, 5, 6}, {{{1, 2}, {0, 3}, {2, 0}}}},
                                      {2, {7, 3, 1}, {{{3, 2}, {1, 3}, {0, 0}}}},
                                      {1, {9, 1, 1}, {{{2, 1}, {0, 0}, {0, 0}}}}};
  return all;
}

bool within_axes(const Shape& shape, Direction direction) {
  for (int axis = shape.axes; axis < 3; ++axis) {
    if (component(direction, axis) != 0) return false;
  }
  return true;
}

TEST(Direction, IsOneNumberForThreeSteps) {
  EXPECT_EQ(steps_of(centre), (std::array{0, 0, 0}));
  EXPECT_EQ(steps_of(0), (std::array{-1, -1, -1}));
  EXPECT_EQ(steps_of(26), (std::array{1, 1, 1}));
  EXPECT_EQ(steps_of(centre + 1), (std::array{1, 0, 0}));
  EXPECT_EQ(steps_of(centre - 3), (std::array{0, -1, 0}));
  EXPECT_EQ(steps_of(centre + 9), (std::array{0, 0, 1}));
}

TEST(Direction, HasAnOppositeWithEveryStepReversed) {
  for (Direction direction = 0; direction < 27; ++direction) {
    const auto steps = steps_of(direction);
    EXPECT_EQ(steps_of(opposite(direction)), (std::array{-steps[0], -steps[1], -steps[2]}));
    EXPECT_EQ(opposite(opposite(direction)), direction);
  }
}

TEST(Region, GhostsAndTheBoxTileTheViewOnce) {
  for (const Shape& shape : shapes()) {
    std::array<std::int64_t, 3> whole{1, 1, 1};
    for (int axis = 0; axis < shape.axes; ++axis)
      whole[axis] = shape.extents[axis] + shape.width[axis].low + shape.width[axis].high;
    std::vector<int> covered(whole[0] * whole[1] * whole[2], 0);
    for (Direction direction = 0; direction < 27; ++direction) {
      if (!within_axes(shape, direction)) continue;
      const Region region = ghost_region(shape, direction);
      for (std::int64_t i = 0; i < region.extents[0]; ++i)
        for (std::int64_t j = 0; j < region.extents[1]; ++j)
          for (std::int64_t k = 0; k < region.extents[2]; ++k)
            ++covered[((region.begin[0] + i) * whole[1] + region.begin[1] + j) * whole[2] + region.begin[2] +
                      k];
    }
    EXPECT_EQ(covered, std::vector<int>(covered.size(), 1));
  }
}

TEST(Region, WhatIsOwnedHasTheExtentsOfTheGhostItFills) {
  for (const Shape& shape : shapes()) {
    for (Direction direction = 0; direction < 27; ++direction) {
      if (!within_axes(shape, direction)) continue;
      EXPECT_EQ(owned_region(shape, direction).extents, ghost_region(shape, opposite(direction)).extents);
    }
  }
}

TEST(Region, WhatIsOwnedLiesAtTheSideOfItsNeighbourAndInsideTheBox) {
  for (const Shape& shape : shapes()) {
    for (Direction direction = 0; direction < 27; ++direction) {
      const Region region = owned_region(shape, direction);
      for (int axis = 0; axis < shape.axes; ++axis) {
        const std::int64_t first = shape.width[axis].low;
        const std::int64_t last = first + shape.extents[axis];
        EXPECT_LE(region.extents[axis], shape.extents[axis]);
        const std::int64_t end = region.begin[axis] + region.extents[axis];
        EXPECT_EQ(region.begin[axis], component(direction, axis) <= 0 ? first : last - region.extents[axis]);
        EXPECT_EQ(end, component(direction, axis) >= 0 ? last : first + region.extents[axis]);
      }
    }
  }
}

TEST(Region, OfAFieldHasAllComponents) {
  const Shape shape = shapes()[2];
  Field field;
  field.rank = 3;
  field.extents = {12, 7, 5, 1};
  const Region region = in_field(ghost_region(shape, centre - 1), field, shape.axes);
  EXPECT_EQ(region.extents, (std::array<std::int64_t, 4>{3, 3, 5, 1}));
  EXPECT_EQ(region.begin, (std::array<std::int64_t, 4>{0, 1, 0, 0}));
}

}  // namespace
}  // namespace selvage::detail
