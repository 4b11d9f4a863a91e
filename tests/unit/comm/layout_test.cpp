#include "layouts/layout.hpp"

#include <selvage/comm/detail/host_copy.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace selvage::detail {
namespace {

constexpr std::array<std::int64_t, 9> element_sizes{1, 2, 3, 4, 8, 12, 16, 24, 48};

/// A block of memory that a View with random layout lies in.
struct Placed {
  std::vector<std::byte> memory;
  std::int64_t first = 0;  ///< of the View, in bytes
  Layout layout;
  Region region;

  [[nodiscard]] const std::byte* data() const { return memory.data() + first; }
  [[nodiscard]] std::byte* data() { return memory.data() + first; }
};

/// The byte offset, from the View's first, of element `i` of a region.
std::int64_t offset_of(const Placed& placed, const std::array<std::int64_t, 4>& i) {
  std::int64_t offset = 0;
  for (int axis = 0; axis < 4; ++axis)
    offset += (placed.region.begin[axis] + i[axis]) * placed.layout.strides[axis];
  return offset;
}

template <class Function>
void for_each(const std::array<std::int64_t, 4>& extents, const Function& function) {
  for (std::int64_t i = 0; i < extents[0]; ++i)
    for (std::int64_t j = 0; j < extents[1]; ++j)
      for (std::int64_t k = 0; k < extents[2]; ++k)
        for (std::int64_t l = 0; l < extents[3]; ++l) function(std::array{i, j, k, l});
}

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  std::int64_t from(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(engine_);
  }

  /// Any order of axes, padding on some of them, a first byte that need not be aligned.
  Placed place(const std::array<std::int64_t, 4>& extents, std::int64_t element_bytes) {
    Placed placed;
    placed.layout.element_bytes = element_bytes;
    placed.region.extents = extents;
    std::array<int, 4> order{0, 1, 2, 3};
    if (from(0, 2) > 0) std::ranges::shuffle(order, engine_);
    std::int64_t stride = element_bytes;
    for (int i = 3; i >= 0; --i) {
      const int axis = order[i];
      placed.layout.strides[axis] = stride;
      placed.region.begin[axis] = from(0, 2);
      stride *= placed.region.begin[axis] + extents[axis] + from(0, 1);
      if (from(0, 3) == 0) stride += element_bytes * from(1, 2);
    }
    placed.first = from(0, 4) == 0 ? from(1, 15) : 16 * from(0, 2);
    placed.memory.resize(placed.first + stride + 16);
    for (std::byte& byte : placed.memory) byte = std::byte(from(0, 255));
    return placed;
  }

 private:
  std::mt19937 engine_;
};

void copy_all(const CopyBox& box) {
  copy_rows_on_host(box, 0, row_count(box));
}

/// What a copy must leave in the target's memory: element by element, nothing else touched.
std::vector<std::byte> copied_naively(const Placed& source, const Placed& target) {
  std::vector<std::byte> expected = target.memory;
  for_each(source.region.extents, [&](const std::array<std::int64_t, 4>& i) {
    std::memcpy(expected.data() + target.first + offset_of(target, i), source.data() + offset_of(source, i),
                source.layout.element_bytes);
  });
  return expected;
}

TEST(Layout, CopiesRandomStridedBoxesAsAnElementLoopDoes) {
  Dice dice(1);
  for (int trial = 0; trial < 4000; ++trial) {
    const std::int64_t element_bytes = element_sizes[trial % element_sizes.size()];
    const std::array extents{dice.from(1, 4), dice.from(1, 3), dice.from(1, 4), dice.from(1, 3)};
    const Placed source = dice.place(extents, element_bytes);
    for (const BoxUse use : {BoxUse::move, BoxUse::combine}) {
      Placed target = dice.place(extents, element_bytes);
      const auto expected = copied_naively(source, target);
      const CopyBox box = view_to_view(source.data(), source.layout, source.region, target.data(),
                                       target.layout, target.region, use);
      EXPECT_EQ(box.bytes(), source.region.elements() * element_bytes);
      copy_all(box);
      ASSERT_EQ(target.memory, expected)
          << "trial " << trial << ", elements of " << element_bytes << " bytes";
    }
  }
}

TEST(Layout, KeepsElementsWholeForACombination) {
  Dice dice(2);
  for (int trial = 0; trial < 500; ++trial) {
    const std::int64_t element_bytes = element_sizes[trial % element_sizes.size()];
    const std::array extents{dice.from(1, 4), dice.from(1, 3), dice.from(1, 4), dice.from(1, 3)};
    const Placed source = dice.place(extents, element_bytes);
    Placed target = dice.place(extents, element_bytes);
    const CopyBox box = view_to_view(source.data(), source.layout, source.region, target.data(),
                                     target.layout, target.region, BoxUse::combine);
    EXPECT_EQ(box.element_bytes, element_bytes);
    EXPECT_EQ(box.elements(), source.region.elements());
  }
}

TEST(Layout, PacksLikeAViewWithoutGapsAndKeepsItsRows) {
  Dice dice(4);
  for (int trial = 0; trial < 500; ++trial) {
    const std::int64_t element_bytes = element_sizes[trial % element_sizes.size()];
    const std::array extents{dice.from(1, 4), dice.from(1, 3), dice.from(1, 4), dice.from(2, 3)};
    const Placed view = dice.place(extents, element_bytes);
    const Layout packed = packed_like(view.region, view.layout);
    std::vector<bool> used(view.region.elements());
    for_each(extents, [&](const std::array<std::int64_t, 4>& i) {
      const std::int64_t offset =
          std::inner_product(i.begin(), i.end(), packed.strides.begin(), std::int64_t{0});
      ASSERT_EQ(offset % element_bytes, 0);
      ASSERT_LT(offset / element_bytes, view.region.elements());
      ASSERT_FALSE(used[offset / element_bytes]);
      used[offset / element_bytes] = true;
    });
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b < 4; ++b) {
        if (extents[a] == 1 || extents[b] == 1 || view.layout.strides[a] >= view.layout.strides[b]) continue;
        EXPECT_LT(packed.strides[a], packed.strides[b]);
      }
    }
  }
}

TEST(Layout, PacksInTheOwnersOrderWhateverTheOtherLayout) {
  Dice dice(3);
  for (int trial = 0; trial < 1000; ++trial) {
    const std::int64_t element_bytes = element_sizes[trial % element_sizes.size()];
    const std::array extents{dice.from(1, 4), dice.from(1, 3), dice.from(1, 4), dice.from(1, 3)};
    const Placed view = dice.place(extents, element_bytes);
    Placed other = dice.place(extents, element_bytes);
    for (const Layout& owners : {view.layout, other.layout}) {
      std::vector<std::byte> packed(view.region.elements() * element_bytes);
      copy_all(view_to_buffer(view.data(), view.layout, view.region, packed.data(), owners));
      const Layout order = packed_like(view.region, owners);
      for_each(extents, [&](const std::array<std::int64_t, 4>& i) {
        const std::int64_t at =
            std::inner_product(i.begin(), i.end(), order.strides.begin(), std::int64_t{0});
        ASSERT_EQ(std::memcmp(&packed[at], view.data() + offset_of(view, i), element_bytes), 0);
      });
      Placed target = other;
      const auto expected = copied_naively(view, target);
      copy_all(
          buffer_to_view(packed.data(), owners, target.data(), target.layout, target.region, BoxUse::move));
      ASSERT_EQ(target.memory, expected);
    }
  }
}

/// A box of doubles, its innermost two axes `inner` and `row`, the row contiguous.
CopyBox row_box(std::byte* source, std::byte* target, std::int64_t element_bytes, std::int64_t row,
                std::int64_t outer_stride) {
  return {.source = source,
          .target = target,
          .extents = {1, 1, 5, row},
          .source_strides = {0, 0, outer_stride, element_bytes},
          .target_strides = {0, 0, outer_stride, element_bytes},
          .element_bytes = element_bytes};
}

TEST(MergeAxes, MakesOneElementOfAShortAlignedRow) {
  alignas(16) std::array<std::byte, 512> memory{};
  std::byte* source = memory.data();
  std::byte* target = memory.data() + 256;
  const CopyBox two_floats = merge_axes(row_box(source, target, 4, 2, 16), BoxUse::move);
  EXPECT_EQ(two_floats.element_bytes, 8);
  EXPECT_EQ(two_floats.extents, (std::array<std::int64_t, 4>{1, 1, 1, 5}));
  EXPECT_EQ(two_floats.source_strides[3], 16);
  EXPECT_EQ(merge_axes(row_box(source, target, 8, 2, 32), BoxUse::move).element_bytes, 16);
  EXPECT_EQ(merge_axes(row_box(source, target, 1, 2, 6), BoxUse::move).element_bytes, 2);
}

TEST(MergeAxes, LeavesShortRowsThatAreNotAligned) {
  alignas(16) std::array<std::byte, 512> memory{};
  std::byte* source = memory.data();
  std::byte* target = memory.data() + 256;
  EXPECT_EQ(merge_axes(row_box(source + 4, target, 4, 2, 16), BoxUse::move).element_bytes, 4);
  EXPECT_EQ(merge_axes(row_box(source, target + 4, 4, 2, 16), BoxUse::move).element_bytes, 4);
  EXPECT_EQ(merge_axes(row_box(source, target, 4, 2, 12), BoxUse::move).element_bytes, 4);
  EXPECT_EQ(merge_axes(row_box(source, target, 8, 2, 24), BoxUse::move).element_bytes, 8);
}

TEST(MergeAxes, LeavesRowsThatAreNoWordAndCombinations) {
  alignas(16) std::array<std::byte, 512> memory{};
  std::byte* source = memory.data();
  std::byte* target = memory.data() + 256;
  EXPECT_EQ(merge_axes(row_box(source, target, 4, 3, 16), BoxUse::move).element_bytes, 4);
  EXPECT_EQ(merge_axes(row_box(source, target, 8, 4, 48), BoxUse::move).element_bytes, 8);
  EXPECT_EQ(merge_axes(row_box(source, target, 4, 2, 16), BoxUse::combine).element_bytes, 4);
}

TEST(MergeAxes, FlattensABlockThatIsContiguousOnBothSides) {
  std::array<std::byte, 960> source{};
  std::array<std::byte, 960> target{};
  const CopyBox box{.source = source.data(),
                    .target = target.data(),
                    .extents = {2, 3, 4, 5},
                    .source_strides = {480, 160, 40, 8},
                    .target_strides = {480, 160, 40, 8},
                    .element_bytes = 8};
  const CopyBox merged = merge_axes(box, BoxUse::move);
  EXPECT_EQ(merged.extents, (std::array<std::int64_t, 4>{1, 1, 1, 120}));
  EXPECT_TRUE(merged.rows_are_contiguous());
}

TEST(MergeAxes, LeavesAnEmptyBoxEmpty) {
  CopyBox box;
  box.extents = {2, 0, 3, 4};
  box.element_bytes = 8;
  EXPECT_EQ(merge_axes(box, BoxUse::move).elements(), 0);
}

TEST(HostCopy, CopiesOnlyTheRowsAskedFor) {
  Dice dice(4);
  for (int trial = 0; trial < 500; ++trial) {
    const std::int64_t element_bytes = element_sizes[trial % element_sizes.size()];
    const std::array extents{dice.from(1, 4), dice.from(1, 3), dice.from(1, 4), dice.from(1, 3)};
    const Placed source = dice.place(extents, element_bytes);
    Placed target = dice.place(extents, element_bytes);
    const auto whole = copied_naively(source, target);
    const CopyBox box = view_to_view(source.data(), source.layout, source.region, target.data(),
                                     target.layout, target.region, BoxUse::move);
    const std::int64_t rows = row_count(box);
    const std::int64_t cut = dice.from(0, rows);
    const auto before = target.memory;
    copy_rows_on_host(box, cut, cut);
    EXPECT_EQ(target.memory, before) << "no rows are no copy";
    copy_rows_on_host(box, 0, cut);
    if (cut == rows) {
      EXPECT_EQ(target.memory, whole);
    }
    copy_rows_on_host(box, cut, rows);
    ASSERT_EQ(target.memory, whole) << "trial " << trial << ", cut at row " << cut << " of " << rows;
  }
}

TEST(HostCopy, LeavesTheOtherRowsAlone) {
  std::array<double, 12> source{};
  std::iota(source.begin(), source.end(), 1.0);
  std::array<double, 12> target{};
  const CopyBox box{.source = reinterpret_cast<const std::byte*>(source.data()),
                    .target = reinterpret_cast<std::byte*>(target.data()),
                    .extents = {1, 2, 2, 2},
                    .source_strides = {0, 48, 24, 8},
                    .target_strides = {0, 48, 24, 8},
                    .element_bytes = 8};
  copy_rows_on_host(box, 1, 3);
  EXPECT_EQ(target, (std::array<double, 12>{0, 0, 0, 4, 5, 0, 7, 8, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace selvage::detail
