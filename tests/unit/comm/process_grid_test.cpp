#include "halo/process_grid.hpp"

#include <selvage/error.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace selvage::detail {
namespace {

/// Ghost cells of width 1 behind all faces of all boxes, counted box by box.
std::int64_t sent_cells(const ProcessGridRequest& request, const std::vector<int>& grid) {
  const auto cells_of = [&](std::size_t axis, int part) {
    const std::int64_t share = request.cells[axis] / grid[axis];
    return share + (part < request.cells[axis] % grid[axis] ? 1 : 0);
  };
  std::int64_t total = 0;
  for (int rank = 0; rank < request.rank_count; ++rank) {
    std::vector<int> place(grid.size());
    int rest = rank;
    for (std::size_t axis = grid.size(); axis-- > 0; rest /= grid[axis]) place[axis] = rest % grid[axis];
    for (std::size_t axis = 0; axis < grid.size(); ++axis) {
      std::int64_t face = 1;
      for (std::size_t other = 0; other < grid.size(); ++other) {
        if (other != axis) face *= cells_of(other, place[other]);
      }
      const bool wraps = request.periodic[axis] && grid[axis] > 1;
      if (place[axis] > 0 || wraps) total += face;
      if (place[axis] + 1 < grid[axis] || wraps) total += face;
    }
  }
  return total;
}

bool fits(const ProcessGridRequest& request, const std::vector<int>& grid) {
  int product = 1;
  for (std::size_t axis = 0; axis < grid.size(); ++axis) {
    if (grid[axis] > request.cells[axis]) return false;
    if (request.ranks[axis] > 0 && request.ranks[axis] != grid[axis]) return false;
    product *= grid[axis];
  }
  return product == request.rank_count;
}

/// Every process grid with entries up to the rank count, tried one after the other.
std::int64_t least_sent_cells(const ProcessGridRequest& request) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::vector<int> grid(request.cells.size(), 1);
  while (true) {
    if (fits(request, grid)) least = std::min(least, sent_cells(request, grid));
    std::size_t axis = 0;
    while (axis < grid.size() && ++grid[axis] > request.rank_count) grid[axis++] = 1;
    if (axis == grid.size()) return least;
  }
}

std::string refusal(const ProcessGridRequest& request) {
  try {
    static_cast<void>(choose_process_grid(request));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.message();
  }
  return "none";
}

TEST(ProcessGrid, SendsTheFewestCellsOfAllGrids) {
  const std::vector<std::vector<std::int64_t>> grids{{64},         {64, 64},     {1000, 10},   {7, 500},
                                                     {16, 16, 16}, {100, 20, 5}, {5, 20, 100}, {3, 3, 3}};
  for (const auto& cells : grids) {
    for (int wrapped = 0; wrapped < 1 << cells.size(); ++wrapped) {
      std::vector<bool> periodic;
      for (std::size_t axis = 0; axis < cells.size(); ++axis) periodic.push_back((wrapped >> axis & 1) != 0);
      for (const int ranks : {1, 2, 3, 4, 6, 8, 12, 13, 16, 24}) {
        const ProcessGridRequest request{cells, periodic, std::vector<int>(cells.size(), 0), ranks};
        const std::int64_t least = least_sent_cells(request);
        if (least == std::numeric_limits<std::int64_t>::max()) {
          EXPECT_NE(refusal(request), "none");
          continue;
        }
        const std::vector<int> chosen = choose_process_grid(request);
        EXPECT_TRUE(fits(request, chosen));
        EXPECT_EQ(sent_cells(request, chosen), least)
            << ranks << " ranks on " << testing::PrintToString(cells);
      }
    }
  }
}

TEST(ProcessGrid, KeepsRowsLongAmongEquals) {
  const std::vector<bool> open(3, false);
  EXPECT_EQ(choose_process_grid({{64, 64, 64}, open, {0, 0, 0}, 2}), (std::vector{2, 1, 1}));
  EXPECT_EQ(choose_process_grid({{64, 64, 64}, open, {0, 0, 0}, 4}), (std::vector{2, 2, 1}));
  EXPECT_EQ(choose_process_grid({{64, 64}, {false, false}, {0, 0}, 7}), (std::vector{7, 1}));
}

TEST(ProcessGrid, AvoidsACutThatAPeriodicAxisPaysTwice) {
  EXPECT_EQ(choose_process_grid({{64, 64}, {true, false}, {0, 0}, 2}), (std::vector{1, 2}));
}

TEST(ProcessGrid, KeepsGivenAxesAndChoosesTheOthers) {
  const std::vector<bool> open(3, false);
  EXPECT_EQ(choose_process_grid({{64, 64, 64}, open, {1, 2, 0}, 8}), (std::vector{1, 2, 4}));
  EXPECT_EQ(choose_process_grid({{64, 64, 64}, open, {0, 0, 3}, 12}), (std::vector{2, 2, 3}));
  EXPECT_EQ(choose_process_grid({{64, 64, 64}, open, {3, 2, 1}, 6}), (std::vector{3, 2, 1}));
}

TEST(ProcessGrid, SaysWhyRanksDoNotFit) {
  EXPECT_EQ(
      refusal({{64, 64}, {false, false}, {3, 0}, 4}),
      "4 ranks can't share a grid of 64 x 64 cells as 3 x 0 (0 = free): the ranks per axis must multiply "
      "to 4 and no axis may have more ranks than cells");
  EXPECT_EQ(
      refusal({{2, 2}, {false, false}, {0, 0}, 8}),
      "8 ranks can't share a grid of 2 x 2 cells: the ranks per axis must multiply to 8 and no axis may have "
      "more ranks than cells");
  EXPECT_NE(refusal({{64, 64}, {false, false}, {2, 4}, 4}), "none");
  EXPECT_NE(refusal({{64, 64}, {false, false}, {-2, -2}, 4}), "none");
  EXPECT_NE(refusal({{64, 3}, {false, false}, {1, 4}, 4}), "none");
  EXPECT_NE(refusal({{5}, {false}, {0}, 7}), "none");
}

}  // namespace
}  // namespace selvage::detail
