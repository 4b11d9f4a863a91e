#include "md/physics/cells.hpp"

#include <gtest/gtest.h>

namespace selvage::md {
namespace {

using Grid = CellGrid<double>;

TEST(CellGrid, ALiquidHasCellsOfHalfACutoff) {
  const Grid grid = Grid::over({{0, 0, 0}, {28, 14, 15.3}}, 2.8, 5000);
  EXPECT_EQ(grid.count[0], 20 + 4);
  EXPECT_EQ(grid.count[1], 10 + 4);
  EXPECT_EQ(grid.count[2], 10 + 4);
}

TEST(CellGrid, AGasHasFewerAndLongerCells) {
  for (const double length : {1e4, 1e7, 1e12, 1e200}) {
    for (const Domain& domain :
         {Domain{{0, 0, 0}, {length, length, length}}, Domain{{0, -5, -5}, {length, 5, 5}}}) {
      const Grid grid = Grid::over(domain, 2.8, 100);
      double cells = 1;
      for (const int count : grid.count) cells *= count;
      EXPECT_LE(cells, Grid::least_room) << length;
      EXPECT_EQ(grid.cells(), cells) << length;
      EXPECT_LE(grid.inverse_side.x, 2 / 2.8) << length;
      EXPECT_EQ(grid.inner(0, length), grid.count[0] - 1 - Grid::reach) << length;
    }
  }
}

TEST(CellGrid, ManyAtomsHaveMoreCells) {
  const Domain domain{{0, 0, 0}, {1000, 1000, 1000}};
  EXPECT_GT(Grid::over(domain, 2.8, 10'000'000).cells(), 10'000'000);
  EXPECT_LE(Grid::over(domain, 2.8, 10'000'000).cells(), 40'000'000);
}

}  // namespace
}  // namespace selvage::md
