#include "layouts/packing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace selvage::detail {
namespace {

constexpr int axes = 2;
constexpr Shape shape{.axes = axes, .extents = {5, 4, 1}, .width = {{{1, 2}, {2, 1}, {0, 0}}}};

/// The neighbour that surrounds a box alone on a grid with both axes periodic: links in all eight directions.
Neighbour all_around() {
  Neighbour neighbour;
  for (Direction direction = 9; direction < 18; ++direction) {
    if (direction == centre) continue;
    neighbour.boundaries.push_back({direction, owned_region(shape, direction), ghost_region(shape, direction),
                                    ghost_region(shape, opposite(direction))});
  }
  return neighbour;
}

/// A contiguous field with its memory.
struct Owned {
  Owned(std::int64_t element_bytes, std::int64_t components) {
    field.rank = components > 0 ? 3 : 2;
    field.element_bytes = element_bytes;
    field.extents = {8, 7, components > 0 ? components : 1, 1};
    std::int64_t stride = element_bytes;
    for (int axis = 3; axis >= 0; --axis) {
      field.strides[axis] = stride;
      stride *= field.extents[axis];
    }
    memory.resize(stride);
    field.data = memory.data();
  }
  Field field;
  std::vector<std::byte> memory;
};

TEST(Packing, LaysTheGhostsOfOneSideOutAsTheOwnedCellsOfTheOther) {
  const Owned doubles(8, 0);
  const Owned shorts(2, 3);
  const std::vector<Field> fields{doubles.field, shorts.field};
  const Packing owned(all_around(), fields, axes, BoundarySide::owned);
  const Packing ghost(all_around(), fields, axes, BoundarySide::ghost);
  EXPECT_EQ(owned.bytes(), ghost.bytes());
  for (std::size_t f = 0; f < fields.size(); ++f) {
    EXPECT_EQ(owned.field_begin(f), ghost.field_begin(f));
    EXPECT_EQ(owned.field_bytes(f), ghost.field_bytes(f));
    ASSERT_EQ(owned.slots(f).size(), ghost.slots(f).size());
    for (std::size_t s = 0; s < owned.slots(f).size(); ++s) {
      EXPECT_EQ(owned.slots(f)[s].offset_bytes, ghost.slots(f)[s].offset_bytes);
      EXPECT_EQ(owned.slots(f)[s].direction, opposite(ghost.slots(f)[s].direction));
      EXPECT_EQ(owned.slots(f)[s].region.extents, ghost.slots(f)[s].region.extents);
    }
  }
}

/// Consecutive threads write consecutive elements of the block, though each reads from another row.
TEST(Packing, KeepsTheOwnersOrderOfAxesAcrossItsFastestOne) {
  const std::int64_t rows = 7, components = 3;
  std::vector<std::byte> memory(8 * rows * components * sizeof(double));
  Field field;
  field.rank = 3;
  field.element_bytes = sizeof(double);
  field.extents = {8, rows, components, 1};
  field.strides = {8, 8 * 8, 8 * 8 * rows, 8 * 8 * rows * components};
  field.data = memory.data();
  Neighbour left;
  left.boundaries.push_back({.direction = centre - 1,
                             .owned = owned_region(shape, centre - 1),
                             .ghost = ghost_region(shape, centre - 1),
                             .peer_ghost = ghost_region(shape, centre + 1)});
  const std::vector<Field> fields{field};
  const Packing packing(left, fields, axes, BoundarySide::owned);
  std::vector<std::byte> block(packing.bytes());
  for (const CopyBox& box : pack_boxes(packing, 0, field, block.data(), layout_of(field)))
    EXPECT_EQ(box.target_strides[3], box.element_bytes);
}

TEST(Packing, StartsEachFieldWhereItsElementsAreAligned) {
  const Owned bytes(1, 3);
  const Owned doubles(8, 0);
  const Owned shorts(2, 0);
  const Owned pairs(16, 0);
  const std::vector<Field> fields{bytes.field, doubles.field, shorts.field, pairs.field};
  const Packing packing(all_around(), fields, axes, BoundarySide::owned);
  for (std::size_t f = 0; f < fields.size(); ++f) {
    for (const auto& slot : packing.slots(f)) EXPECT_EQ(slot.offset_bytes % fields[f].element_bytes, 0);
  }
}

TEST(Packing, CountsThePayloadWithoutGaps) {
  const Owned bytes(1, 3);
  const Owned doubles(8, 0);
  const std::vector<Field> fields{bytes.field, doubles.field};
  const Packing packing(all_around(), fields, axes, BoundarySide::owned);
  std::int64_t cells = 0;
  for (const auto& slot : packing.slots(1)) cells += slot.region.elements();
  EXPECT_EQ(packing.payload_bytes(), cells * (3 + 8));
}

TEST(Packing, SlotsOfOneBlockDoNotOverlapAndStayInside) {
  const Owned shorts(2, 3);
  const Owned odd(12, 0);
  const std::vector<Field> fields{shorts.field, odd.field};
  const Packing packing(all_around(), fields, axes, BoundarySide::owned);
  std::vector<int> used(packing.bytes(), 0);
  for (std::size_t f = 0; f < fields.size(); ++f) {
    for (const auto& slot : packing.slots(f)) {
      const std::int64_t bytes = slot.region.elements() * fields[f].element_bytes;
      EXPECT_GE(slot.offset_bytes, packing.field_begin(f));
      EXPECT_LE(slot.offset_bytes + bytes, packing.field_begin(f) + packing.field_bytes(f));
      for (std::int64_t at = 0; at < bytes; ++at) EXPECT_EQ(++used[slot.offset_bytes + at], 1);
    }
  }
}

TEST(Packing, LeavesOutWhatAOneSidedWidthDoesNotSend) {
  const Shape one_sided{.axes = 1, .extents = {5, 1, 1}, .width = {{{2, 0}, {0, 0}, {0, 0}}}};
  Neighbour right;
  right.boundaries.push_back({centre + 1, owned_region(one_sided, centre + 1),
                              ghost_region(one_sided, centre + 1), ghost_region(one_sided, centre - 1)});
  Field field;
  field.rank = 1;
  field.extents = {7, 1, 1, 1};
  field.element_bytes = 4;
  const std::vector<Field> fields{field};
  EXPECT_EQ(Packing(right, fields, 1, BoundarySide::owned).payload_bytes(), 2 * 4);
  EXPECT_EQ(Packing(right, fields, 1, BoundarySide::ghost).bytes(), 0);
  EXPECT_TRUE(Packing(right, fields, 1, BoundarySide::ghost).slots(0).empty());
}

TEST(Packing, HasOneContributionPerDirectionAndInElementsOfTheField) {
  Owned doubles(8, 0);
  const std::vector<Field> fields{doubles.field};
  const Packing owned(all_around(), fields, axes, BoundarySide::owned);
  std::vector<std::byte> block(owned.bytes());
  const auto contributions = contributions_of(owned, 0, doubles.field, block.data());
  ASSERT_EQ(contributions.size(), 8U);
  for (std::size_t i = 0; i < contributions.size(); ++i) {
    EXPECT_EQ(contributions[i].box.element_bytes, 8);
  }
  EXPECT_TRUE(std::ranges::is_sorted(contributions, {}, &Contribution::direction));
}

}  // namespace
}  // namespace selvage::detail
