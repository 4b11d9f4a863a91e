#include "common/checksum_blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace {

using namespace selvage;
using namespace app;

std::vector<std::uint64_t> sums_of(const ChecksumBlocks& blocks, const std::vector<ArrayBox>& boxes,
                                   const std::vector<std::int64_t>& extent,
                                   const std::vector<float>& values) {
  std::vector<std::uint64_t> sums(blocks.count());
  for (const ArrayBox& box : boxes) {
    std::vector<float> part;
    for (std::int64_t i = box.begin[0]; i < box.end[0]; ++i)
      for (std::int64_t j = box.begin[1]; j < box.end[1]; ++j)
        part.push_back(values[static_cast<std::size_t>(i * extent[1] + j)]);
    blocks.add(box, ElementType::float32, part.data(), sums);
  }
  return sums;
}

TEST(ChecksumBlocks, DoNotDependOnThePartsThatAddThemUp) {
  const std::vector<std::int64_t> extent{9, 11};
  std::vector<float> values(99);
  std::iota(values.begin(), values.end(), 1.0F);
  const ChecksumBlocks blocks(extent, std::vector<std::int64_t>{4, 3});
  ASSERT_EQ(blocks.count(), 12);
  const auto whole = sums_of(blocks, {{{0, 0}, {9, 11}}}, extent, values);
  EXPECT_EQ(sums_of(blocks, {{{0, 0}, {5, 7}}, {{0, 7}, {5, 11}}, {{5, 0}, {9, 2}}, {{5, 2}, {9, 11}}},
                    extent, values),
            whole);
  // Each block by itself.
  for (std::size_t number = 0; number < blocks.count(); ++number) {
    const auto alone = sums_of(blocks, {blocks.box_of(number)}, extent, values);
    EXPECT_EQ(alone[number], whole[number]);
    EXPECT_EQ(std::ranges::count(alone, 0U), 11);
    EXPECT_EQ(blocks.touching(blocks.box_of(number)), std::vector{number});
  }
  EXPECT_EQ(blocks.touching({{3, 2}, {5, 4}}), (std::vector<std::size_t>{0, 1, 4, 5}));
  EXPECT_TRUE(blocks.touching({{3, 2}, {3, 4}}).empty());
}

TEST(ChecksumBlocks, OfWholeRowsDoNotDependOnThePartsEither) {
  const std::vector<std::int64_t> extent{9, 3};
  std::vector<float> values(27);
  std::iota(values.begin(), values.end(), 1.0F);
  const ChecksumBlocks blocks(extent, std::vector<std::int64_t>{4, 3});
  const auto whole = sums_of(blocks, {{{0, 0}, {9, 3}}}, extent, values);
  EXPECT_EQ(sums_of(blocks, {{{0, 0}, {9, 1}}, {{0, 1}, {9, 3}}}, extent, values), whole);
  EXPECT_EQ(sums_of(blocks, {{{0, 0}, {2, 3}}, {{2, 0}, {7, 3}}, {{7, 0}, {9, 3}}}, extent, values), whole);
}

TEST(ChecksumBlocks, SeeValuesThatHaveChangedPlaces) {
  const std::vector<std::int64_t> extent{2, 2};
  const ChecksumBlocks blocks(extent, ElementType::float32);
  const std::vector<ArrayBox> whole{{{0, 0}, {2, 2}}};
  EXPECT_NE(sums_of(blocks, whole, extent, {1, 2, 3, 4}), sums_of(blocks, whole, extent, {2, 1, 3, 4}));
  EXPECT_NE(sums_of(blocks, whole, extent, {0, 2, 3, 4}), sums_of(blocks, whole, extent, {-0.0F, 2, 3, 4}));
}

TEST(ChecksumBlocks, FitIntoAnAttribute) {
  EXPECT_EQ(ChecksumBlocks({13}, ElementType::float64).count(), 1);
  EXPECT_EQ(ChecksumBlocks({300, 700}, ElementType::float64).block(), (std::vector<std::int64_t>{300, 350}));
  for (const std::int64_t side : {50, 51, 500, 1000, 1023, 1025, 5000, 7001}) {
    const ChecksumBlocks blocks({side, side, side}, ElementType::float64);
    EXPECT_LE(blocks.count(), 4096) << side;
    const std::int64_t most = std::max<std::int64_t>(1 << 20, side * side * side * 8 / 2048);
    EXPECT_LE(blocks.box_of(0).count() * 8, most) << side;
  }
  EXPECT_LE(ChecksumBlocks({1, 1'000'000'001, 3}, ElementType::float64).count(), 4096);
}

}  // namespace
