#include "jacobi/persistent/tiling.hpp"

#include <gtest/gtest.h>

namespace selvage::jacobi {
namespace {

constexpr TilingLimits limits{.multiprocessors = 132,
                              .blocks_per_multiprocessor = 4,
                              .warps_per_block = 4,
                              .steps = 8,
                              .strip_columns = 112};
constexpr int resident_warps = 132 * 4 * 4;

TEST(Tiling, NoChunkIsLowerThanAPass) {
  for (const int rows : {8, 9, 15, 16, 17, 255, 1022, 4095}) {
    for (const int columns : {1, 112, 113, 1022, 16382}) {
      const Tiling tiling = choose_tiling(rows, columns, limits);
      ASSERT_GE(tiling.chunks, 1);
      EXPECT_GE(rows / tiling.chunks, limits.steps) << rows << " x " << columns;
    }
  }
}

TEST(Tiling, StripsHoldAllColumns) {
  EXPECT_EQ(choose_tiling(100, 112, limits).strips, 1);
  EXPECT_EQ(choose_tiling(100, 113, limits).strips, 2);
}

TEST(Tiling, TilesAreResidentAtOnceUnlessStripsAloneAreTooMany) {
  for (const int n : {1022, 2046, 4094, 8190, 16382, 20478}) {
    EXPECT_LE(choose_tiling(n, n, limits).tiles(), resident_warps) << n;
  }
  const Tiling wide = choose_tiling(64, 112 * 3000, limits);
  EXPECT_EQ(wide.chunks, 1);
  EXPECT_EQ(wide.blocks, 132 * 4);
}

TEST(Tiling, LargeSlabsFillTheDeviceAndSmallOnesDoNot) {
  EXPECT_GT(choose_tiling(16382, 16382, limits).tiles(), resident_warps * 9 / 10);
  EXPECT_LT(choose_tiling(1022, 1022, limits).tiles(), resident_warps / 2 + 100);
}

TEST(Tiling, BlocksHoldAllTiles) {
  for (const int n : {8, 100, 1000}) {
    const Tiling tiling = choose_tiling(n, n, limits);
    EXPECT_GE(tiling.blocks * limits.warps_per_block, tiling.tiles());
    EXPECT_LT((tiling.blocks - 1) * limits.warps_per_block, tiling.tiles());
  }
}

}  // namespace
}  // namespace selvage::jacobi
