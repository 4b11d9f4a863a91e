#include "thrown.hpp"

#include <selvage/comm/grid.hpp>
#include <selvage/comm/halo_exchange.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace selvage::test {
namespace {

class GridTest : public testing::Test {
 protected:
  /// Each cell of the grid in exactly one rank's box, each box within it and with at least one cell.
  template <int D>
  void expect_tiling(const GridOptions<D>& options) const {
    const Grid<D> grid(context_, options);
    std::int64_t cells = 0;
    for (int rank = 0; rank < grid.size(); ++rank) {
      const Box<D> box = grid.box_of(rank);
      for (int axis = 0; axis < D; ++axis) {
        EXPECT_GE(box.extent(axis), 1);
        EXPECT_GE(box.begin[axis], 0);
        EXPECT_LE(box.end[axis], options.cells[axis]);
        const std::int64_t share = options.cells[axis] / grid.ranks()[axis];
        EXPECT_GE(box.extent(axis), share);
        EXPECT_LE(box.extent(axis), share + 1);
      }
      cells += box.cells();
      for (int other = 0; other < rank; ++other) EXPECT_FALSE(overlap(box, grid.box_of(other)));
    }
    std::int64_t all = 1;
    for (const std::int64_t extent : options.cells) all *= extent;
    EXPECT_EQ(cells, all);
    EXPECT_EQ(grid.box(), grid.box_of(grid.rank()));
  }

  template <int D>
  static bool overlap(const Box<D>& a, const Box<D>& b) {
    for (int axis = 0; axis < D; ++axis) {
      if (a.end[axis] <= b.begin[axis] || b.end[axis] <= a.begin[axis]) return false;
    }
    return true;
  }

  [[nodiscard]] int size() const { return context_.size(); }

  const Context context_{MPI_COMM_WORLD};
};

TEST_F(GridTest, TilesItsCellsWithUnevenBoxes) {
  expect_tiling<1>({.cells = {8}});
  expect_tiling<1>({.cells = {1001}});
  expect_tiling<2>({.cells = {13, 17}, .periodic = {true, false}});
  expect_tiling<2>({.cells = {3, 1000}});
  expect_tiling<3>({.cells = {7, 9, 11}});
  expect_tiling<3>({.cells = {2, 2, 301}, .periodic = {true, true, true}});
}

TEST_F(GridTest, GivesTheFirstRanksTheExtraCells) {
  const Grid<1> grid(context_, {.cells = {10 * size() + 1}, .reorder = false});
  EXPECT_EQ(grid.box_of(0).extent(0), 11);
  if (size() > 1) {
    EXPECT_EQ(grid.box_of(1).extent(0), 10);
    EXPECT_EQ(grid.box_of(1).begin[0], 11);
  }
}

TEST_F(GridTest, CountsRanksWithTheLastAxisFastest) {
  const Grid<3> grid(context_, {.cells = {20, 20, 20}, .reorder = false});
  const auto& ranks = grid.ranks();
  EXPECT_EQ(ranks[0] * ranks[1] * ranks[2], size());
  int rank = 0;
  for (int i = 0; i < ranks[0]; ++i) {
    for (int j = 0; j < ranks[1]; ++j) {
      for (int k = 0; k < ranks[2]; ++k) EXPECT_EQ(grid.coordinates_of(rank++), (std::array{i, j, k}));
    }
  }
  EXPECT_EQ(grid.coordinates(), grid.coordinates_of(grid.rank()));
}

TEST_F(GridTest, HasNeighboursThatAreInverseToEachOther) {
  for (const bool periodic : {false, true}) {
    const Grid<2> grid(context_, {.cells = {20, 20}, .periodic = {periodic, true}});
    for (int rank = 0; rank < size(); ++rank) {
      for (int i = -1; i <= 1; ++i) {
        for (int j = -1; j <= 1; ++j) {
          const int there = grid.neighbour_of(rank, {i, j});
          const int row = grid.coordinates_of(rank)[0] + i;
          EXPECT_EQ(there == Grid<2>::no_neighbour, !periodic && (row < 0 || row >= grid.ranks()[0]));
          if (there == Grid<2>::no_neighbour) continue;
          EXPECT_EQ(grid.neighbour_of(there, {-i, -j}), rank);
        }
      }
    }
    EXPECT_EQ(grid.neighbour({0, 0}), grid.rank());
  }
}

TEST_F(GridTest, UsesTheProcessGridThatIsGiven) {
  const Grid<2> rows(context_, {.cells = {20, 20}, .ranks = {size(), 1}});
  EXPECT_EQ(rows.ranks(), (std::array{size(), 1}));
  const Grid<2> columns(context_, {.cells = {20, 20}, .ranks = {0, size()}});
  EXPECT_EQ(columns.ranks(), (std::array{1, size()}));
  expect_tiling<2>({.cells = {20, 20}, .ranks = {1, size()}});
}

TEST_F(GridTest, HoldsAsManyRanksAsCells) {
  expect_tiling<1>({.cells = {size()}});
  expect_tiling<2>({.cells = {1, size()}});
}

TEST_F(GridTest, RefusesMoreRanksThanCells) {
  if (size() == 1) GTEST_SKIP() << "one rank always fits";
  const std::string message =
      message_on_all_ranks(ErrorKind::input, [&] { const Grid<1> grid(context_, {.cells = {size() - 1}}); });
  EXPECT_NE(
      message.find(std::to_string(size()) + " ranks can't share a grid of " + std::to_string(size() - 1)),
      std::string::npos)
      << message;
  message_on_all_ranks(ErrorKind::input, [&] {
    const Grid<2> grid(context_, {.cells = {100, 1}, .ranks = {1, size()}});
  });
}

TEST_F(GridTest, RefusesAProcessGridOfAnotherSize) {
  message_on_all_ranks(ErrorKind::input, [&] {
    const Grid<2> grid(context_, {.cells = {20, 20}, .ranks = {size() + 1, 1}});
  });
  message_on_all_ranks(ErrorKind::input, [&] {
    const Grid<2> grid(context_, {.cells = {20, 20}, .ranks = {-1, 0}});
  });
}

TEST_F(GridTest, RefusesCellsBelowOne) {
  EXPECT_EQ(message_on_all_ranks(ErrorKind::input,
                                 [&] {
                                   const Grid<2> grid(context_, {.cells = {20, 0}});
                                 }),
            "a grid of 20 x 0 cells: axis 1 needs at least 1");
  EXPECT_EQ(message_on_all_ranks(ErrorKind::input,
                                 [&] {
                                   const Grid<2> grid(context_, {.cells = {-5, 20}});
                                 }),
            "a grid of -5 x 20 cells: axis 0 needs at least 1");
}

TEST_F(GridTest, NamesRanksThatGiveDifferentOptions) {
  if (size() == 1) GTEST_SKIP() << "nobody to differ from";
  const bool last = context_.rank() == size() - 1;
  const std::string expected =
      "ranks 0 and " + std::to_string(size() - 1) + " gave different options for one Grid";
  EXPECT_EQ(message_on_all_ranks(ErrorKind::usage,
                                 [&] { const Grid<1> grid(context_, {.cells = {last ? 101 : 100}}); }),
            expected);
  EXPECT_EQ(
      message_on_all_ranks(ErrorKind::usage,
                           [&] { const Grid<1> grid(context_, {.cells = {100}, .periodic = {!last}}); }),
      "ranks " + std::to_string(size() - 1) + " and 0 gave different options for one Grid");
  std::vector<std::int64_t> cuts;
  for (int cut = 1; cut < size(); ++cut) cuts.push_back(last ? 2 * cut : cut);
  message_on_all_ranks(ErrorKind::usage,
                       [&] { const Grid<1> grid(context_, {.cells = {100}, .splits = {cuts}}); });
  message_on_all_ranks(ErrorKind::usage, [&] {
    if (last) {
      const Grid<1> grid(context_, {.cells = {100}});
    } else {
      const Grid<1> grid(context_, {.cells = {100}}, {.begin = {0}, .end = {100}});
    }
  });
  constexpr std::int64_t large = std::int64_t{1} << 40;
  message_on_all_ranks(ErrorKind::usage,
                       [&] { const Grid<1> grid(context_, {.cells = {last ? large : 2 * large}}); });
}

TEST_F(GridTest, IsCutWhereItIsTold) {
  // The last part is the largest.
  std::array<std::vector<std::int64_t>, 2> splits;
  for (int cut = 1; cut < size(); ++cut) splits[1].push_back(cut * (cut + 1) / 2);
  const std::int64_t columns = size() * size();
  const Grid<2> grid(context_, {.cells = {3, columns}, .ranks = {1, 0}, .reorder = false, .splits = splits});
  EXPECT_EQ(grid.ranks(), (std::array{1, size()}));
  const int rank = context_.rank();
  EXPECT_EQ(grid.box().begin, (std::array<std::int64_t, 2>{0, rank * (rank + 1) / 2}));
  EXPECT_EQ(grid.box().end[1], rank + 1 == size() ? columns : (rank + 1) * (rank + 2) / 2);
}

TEST_F(GridTest, RefusesCutsThatDontFit) {
  const auto message = [&](const GridOptions<2>& options) {
    return message_on_all_ranks(ErrorKind::input, [&] { const Grid<2> grid(context_, options); });
  };
  for (const std::vector<std::int64_t>& cuts :
       std::vector<std::vector<std::int64_t>>{{5, 5}, {0, 5}, {5, 20}}) {
    EXPECT_EQ(message({.cells = {20, 30}, .splits = {cuts}}),
              "a grid of 20 x 30 cells can't be cut along axis 0 at " + std::to_string(cuts[0]) + ", " +
                  std::to_string(cuts[1]) + ": cuts ascend, from 1 to 19");
  }
  EXPECT_EQ(message({.cells = {20, 30}, .ranks = {2, 0}, .splits = {{{3, 7}}}}),
            "axis 0 of a grid is cut into 3 parts, for 2 ranks");
  std::vector<std::int64_t> too_many;
  for (int cut = 1; cut <= size(); ++cut) too_many.push_back(cut);
  EXPECT_NE(message({.cells = {20, 30}, .splits = {too_many}}).find("can't share a grid of 20 x 30 cells"),
            std::string::npos);
}

TEST_F(GridTest, RefusesBoxesThatDontTile) {
  const std::int64_t first = 4 * context_.rank();
  const std::int64_t cells = 4 * size();
  const auto message = [&](ErrorKind kind, const Box<1>& box, const GridOptions<1>& options) {
    return message_on_all_ranks(kind, [&] { const Grid<1> grid(context_, options, box); });
  };
  const std::string last = std::to_string(size() - 1);
  const std::string all = std::to_string(cells);
  EXPECT_EQ(message(ErrorKind::input, {.begin = {first + 1}, .end = {first + 5}}, {.cells = {cells}}),
            "rank " + last + " brings the box from (" + std::to_string(cells - 3) + ") to (" +
                std::to_string(cells + 1) + ") of a grid of " + all + " cells, which leaves the grid");
  EXPECT_EQ(message(ErrorKind::input, {.begin = {first}, .end = {first}}, {.cells = {cells}}),
            "rank 0 brings the box from (0) to (0) of a grid of " + all + " cells, which holds no cell");
  EXPECT_EQ(message(ErrorKind::input, {.begin = {first}, .end = {first + 3}}, {.cells = {cells}}),
            "the boxes of " + std::to_string(size()) + (size() == 1 ? " rank" : " ranks") + " hold " +
                std::to_string(3 * size()) + " of the " + all + " cells of a grid of " + all);
  if (size() > 1) {
    EXPECT_EQ(message(ErrorKind::input, {.begin = {first}, .end = {std::min(first + 5, cells)}},
                      {.cells = {cells}}),
              "the boxes of ranks 0 and 1 overlap: from (0) to (5) and from (4) to (" +
                  std::to_string(std::min<std::int64_t>(9, cells)) + ")");
  }
  EXPECT_EQ(message(ErrorKind::usage, {.begin = {first}, .end = {first + 4}},
                    {.cells = {cells}, .ranks = {size()}}),
            "a Grid of boxes is given " + std::to_string(size()) + (size() == 1 ? " rank" : " ranks") +
                " for axis 0, too");
}

TEST_F(GridTest, AllocatesTheBoxAndItsGhostsZeroed) {
  const Grid<2> grid(context_, {.cells = {19, 23}});
  const auto view = grid.allocate<double>("u", {{1, 2}, {0, 3}});
  EXPECT_EQ(view.extent(0), grid.box().extent(0) + 3);
  EXPECT_EQ(view.extent(1), grid.box().extent(1) + 3);
  const auto with_components = grid.allocate<float, Kokkos::LayoutLeft>("v", 2, 5);
  EXPECT_EQ(with_components.extent(0), grid.box().extent(0) + 4);
  EXPECT_EQ(with_components.extent(2), 5U);
  const auto image = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  for (std::size_t i = 0; i < image.extent(0); ++i) {
    for (std::size_t j = 0; j < image.extent(1); ++j) EXPECT_EQ(image(i, j), 0.0);
  }
}

/// Kernels that read one View and write another are slower where both begin at the same place of a page.
TEST_F(GridTest, AllocatesHostViewsAtDifferentLinesOfAPage) {
  const Grid<2> grid(context_, {.cells = {19, 23}});
  std::set<std::uintptr_t> places;
  for (int i = 0; i < 64; ++i) {
    const auto view = grid.allocate<double, Kokkos::LayoutRight, Kokkos::HostSpace>("u", 1);
    places.insert(reinterpret_cast<std::uintptr_t>(view.data()) % 4096);
  }
  EXPECT_EQ(places.size(), 64U);
  for (const std::uintptr_t place : places) EXPECT_EQ(place % 64, 0U);
}

/// Which cells a box gains and loses is told by ghosts that an exchange has filled.
TEST_F(GridTest, MovesTheSidesOfBoxesThatExchangesFill) {
  const Grid<2> grid(context_, {.cells = {19, 23}, .periodic = {true, false}});
  const Width<2> width{{1, 2}, {0, 3}};
  const auto view = grid.allocate<int, Kokkos::LayoutRight, Kokkos::HostSpace>("u", width);
  const Box<2> own = grid.local_box(width), grown = grid.grown(own, width), inner = grid.shrunk(own, width);
  for (auto i = own.begin[0]; i < own.end[0]; ++i) {
    for (auto j = own.begin[1]; j < own.end[1]; ++j) view(i, j) = 1;
  }
  EXPECT_EQ(own.cells(), grid.box().cells());
  HaloExchange halo(Kokkos::DefaultHostExecutionSpace(), grid, {.width = width}, view);
  halo.exchange(Kokkos::DefaultHostExecutionSpace(), view);
  const auto is_in = [](const Box<2>& box, std::int64_t i, std::int64_t j) {
    return i >= box.begin[0] && i < box.end[0] && j >= box.begin[1] && j < box.end[1];
  };
  const auto extent = [&](int axis) { return static_cast<std::int64_t>(view.extent(axis)); };
  for (std::int64_t i = 0; i < extent(0); ++i) {
    for (std::int64_t j = 0; j < extent(1); ++j) {
      EXPECT_EQ(view(i, j) == 1, is_in(grown, i, j)) << i << ", " << j;
      const bool reads_ghosts = [&] {
        for (auto k = i - width[0].low; k <= i + width[0].high; ++k) {
          for (auto l = j - width[1].low; l <= j + width[1].high; ++l) {
            if (is_in(grown, k, l) && !is_in(own, k, l)) return true;
          }
        }
        return false;
      }();
      EXPECT_EQ(is_in(inner, i, j), is_in(own, i, j) && !reads_ghosts) << i << ", " << j;
    }
  }
}

TEST_F(GridTest, ShrinksThinBoxesToEmptyOnes) {
  const Grid<1> grid(context_, {.cells = {size()}, .periodic = {true}});
  EXPECT_TRUE(is_empty(grid.shrunk(grid.local_box(1), 1)));
}

/// Its bytes, counted in 64 bits, would be few.
TEST_F(GridTest, RefusesViewsTooLargeToCount) {
  constexpr std::int64_t many = std::int64_t{1} << 33;
  const Grid<2> grid(context_, {.cells = {many, many}});
  const Grid<1> line(context_, {.cells = {4 * context_.size()}});
  const auto expect_usage_error = [](const auto& allocate) {
    try {
      static_cast<void>(allocate());
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << error.message();
    }
  };
  expect_usage_error([&] { return grid.allocate<double>("u", 0); });
  expect_usage_error([&] { return line.allocate<double>("u", -100); });
}

TEST_F(GridTest, RefusesWidthsBelowZeroAndDirectionsBeyondOne) {
  const Grid<1> grid(context_, {.cells = {4 * size()}, .periodic = {true}});
  const auto refusal = [](const auto& call) {
    const auto error = thrown_by(call);
    EXPECT_EQ(error ? to_string(error->kind()) : "", to_string(ErrorKind::usage));
    return error ? error->message() : "nothing was thrown";
  };
  EXPECT_EQ(refusal([&] {
              static_cast<void>(grid.allocate<double>("u", Width<1>{{-1, 0}}));
            }),
            "ghosts of -1 and 0 cells: a width is at least 0");
  EXPECT_EQ(refusal([&] { static_cast<void>(grid.neighbour({-2})); }),
            "there are neighbours in the directions -1, 0 and 1, not -2 on axis 0");
}

/// Some Contexts of one process, each made with an execution space, which says where its Views lie.
TEST_F(GridTest, AllocatesWhereItsContextWasMadeFor) {
  const Kokkos::DefaultHostExecutionSpace host;
  const Context first(host, MPI_COMM_WORLD);
  const Context second(Kokkos::DefaultExecutionSpace(), MPI_COMM_WORLD);
  EXPECT_EQ(first.device(), -1);
  EXPECT_EQ(second.device(), context_.device());
  const Grid<2> on_host(first, {.cells = {19, 23}, .periodic = {true, true}});
  const auto u = on_host.allocate<double, Kokkos::LayoutRight, Kokkos::HostSpace>("u", 1);
  Kokkos::deep_copy(u, -1.0);
  u(1, 1) = 1.0;
  u(1, on_host.box().extent(1)) = 1.0;
  HaloExchange halo(host, on_host, {.width = 1}, u);
  halo.exchange(host, u);
  // The wrapped column's value comes from the cell at the other end, on whichever rank that is.
  EXPECT_EQ(u(1, 0), 1.0) << halo.explain();
  const Grid<2> anywhere(second, {.cells = {19, 23}});
  const auto v = anywhere.allocate<double>("v", 1);
  const auto image = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), v);
  EXPECT_EQ(image(0, 0), 0.0);
}

TEST_F(GridTest, NumbersItsOwnCommunicator) {
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -context_.rank(), &reversed);
  {
    const Context context(reversed);
    const Grid<1> grid(context, {.cells = {50}});
    EXPECT_EQ(grid.rank(), size() - 1 - context_.rank());
    int in_comm = -1;
    MPI_Comm_rank(grid.comm(), &in_comm);
    EXPECT_EQ(in_comm, grid.rank());
  }
  MPI_Comm_free(&reversed);
}

TEST_F(GridTest, PredictsWhatAnExchangeSends) {
  const Grid<2> grid(context_, {.cells = {19, 23}, .periodic = {true, false}});
  for (const bool corners : {false, true}) {
    const HaloOptions<2> options{.width = {{1, 2}, {0, 3}}, .corners = corners};
    const topo::Traffic traffic = grid.halo_traffic(options.width, 8, corners, topo::Memory::device);
    const auto view = grid.allocate<double, void, Kokkos::HostSpace>("u", options.width);
    const HaloExchange halo(Kokkos::DefaultHostExecutionSpace(), grid, options, view);
    std::int64_t bytes = 0;
    for (const topo::TrafficEntry& entry : traffic.sent_by(grid.rank())) {
      EXPECT_EQ(entry.device.messages, 1U);
      EXPECT_EQ(entry.host, topo::Amount());
      if (entry.to != grid.rank()) bytes += static_cast<std::int64_t>(entry.device.bytes);
    }
    EXPECT_EQ(bytes, halo.bytes_per_exchange());
  }
}

}  // namespace
}  // namespace selvage::test
