#include "halo_conformance.hpp"
#include "thrown.hpp"

#include <selvage/topo/traffic.hpp>

#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

namespace selvage::test {
namespace {

// Run with SELVAGE_LOGICAL_HOSTS=2x4 on 8 ranks: in their order, each host has a row of this grid.
constexpr GridOptions<2> rows{.cells = {8, 16}, .ranks = {2, 4}};

class GridOrder : public testing::Test {
 protected:
  ~GridOrder() override { unsetenv("SELVAGE_GRID_REORDER"); }

  /// Bytes of a halo of width 1 that leave their host.
  template <int D>
  [[nodiscard]] std::uint64_t bytes_between_hosts(const Grid<D>& grid) const {
    std::uint64_t bytes = 0;
    const topo::Traffic traffic = grid.halo_traffic(1, 1, false, topo::Memory::host);
    for (const topo::TrafficEntry& entry : traffic.entries()) {
      if (!context_.machine().same_host(entry.from, entry.to)) bytes += entry.host.bytes;
    }
    return bytes;
  }

  // Without GPUs, which ranks of a host may share.
  const Context context_{Kokkos::DefaultHostExecutionSpace(), MPI_COMM_WORLD};
};

TEST_F(GridOrder, GivesEachHostABlockWhereThatSendsLess) {
  ASSERT_EQ(context_.machine().host_count(), 2);
  const Grid<2> placed(context_, rows);
  GridOptions<2> options = rows;
  options.reorder = false;
  const Grid<2> in_order(context_, options);
  // Four columns of places with a side of 4 cells between the hosts' rows; two rows between blocks.
  EXPECT_EQ(bytes_between_hosts(in_order), 2U * 4 * 4);
  EXPECT_EQ(bytes_between_hosts(placed), 2U * 2 * 4);
  EXPECT_NE(placed.explain().find("process grid 2 x 4, ranks placed: "), std::string::npos)
      << placed.explain();
  EXPECT_NE(placed.explain().find("16 B between hosts instead of 32"), std::string::npos) << placed.explain();
  EXPECT_EQ(in_order.explain(), "process grid 2 x 4, ranks in order: they are not to be reordered");
}

TEST_F(GridOrder, GivesEachPlaceToOneRankAndKeepsNeighboursMutual) {
  GridOptions<2> options = rows;
  options.periodic = {true, false};
  const Grid<2> grid(context_, options);
  std::set<std::array<int, 2>> places;
  for (int rank = 0; rank < grid.size(); ++rank) {
    const auto place = grid.coordinates_of(rank);
    places.insert(place);
    EXPECT_EQ(grid.box_of(rank).begin, (std::array<std::int64_t, 2>{place[0] * 4, place[1] * 4}));
    for (const int step : {-1, 1}) {
      const int there = grid.neighbour_of(rank, {0, step});
      const int column = place[1] + step;
      if (column < 0 || column > 3) {
        EXPECT_EQ(there, Grid<2>::no_neighbour);
        continue;
      }
      EXPECT_EQ(grid.coordinates_of(there), (std::array{place[0], column}));
      EXPECT_EQ(grid.neighbour_of(there, {0, -step}), rank);
    }
  }
  EXPECT_EQ(places.size(), 8U);
}

TEST_F(GridOrder, ExchangesExactlyAsPlaced) {
  const HaloCase<2> halo_case{"placed", {11, 18}, {true, false}, {{1, 2}, {2, 1}}, true};
  const Context with_gpus(MPI_COMM_WORLD);
  const Grid<2> grid(with_gpus, {.cells = halo_case.cells, .periodic = halo_case.periodic, .ranks = {2, 4}});
  ASSERT_NE(grid.explain().find("ranks placed"), std::string::npos) << grid.explain();
  for (const GhostReuse reuse : {GhostReuse::credit, GhostReuse::alternating}) {
    const HaloOptions<2> options{.width = halo_case.width, .ghost_reuse = reuse};
    expect_exact<FieldKind<2, double, Kokkos::LayoutRight, 0>>(grid, halo_case, options, Home::shared);
  }
}

TEST_F(GridOrder, CanBeForbiddenByTheEnvironment) {
  setenv("SELVAGE_GRID_REORDER", "no", 1);
  const Grid<2> grid(context_, rows);
  EXPECT_EQ(grid.explain(), "process grid 2 x 4, ranks in order: SELVAGE_GRID_REORDER=no");
  EXPECT_EQ(grid.neighbour_of(0, {0, 1}), 1);
}

TEST_F(GridOrder, CanBeAskedForByTheEnvironment) {
  setenv("SELVAGE_GRID_REORDER", "yes", 1);
  GridOptions<2> options = rows;
  options.reorder = false;
  EXPECT_NE(Grid<2>(context_, options).explain().find("ranks placed"), std::string::npos);
}

TEST_F(GridOrder, RefusesAnEnvironmentThatItCantRead) {
  if (context_.rank() == 0) setenv("SELVAGE_GRID_REORDER", "maybe", 1);
  const std::string message =
      message_on_all_ranks(ErrorKind::input, [&] { const Grid<2> grid(context_, rows); });
  EXPECT_EQ(message, "SELVAGE_GRID_REORDER=maybe: there are yes, no (on rank 0)");
}

TEST_F(GridOrder, RefusesRanksThatDisagree) {
  GridOptions<2> options = rows;
  options.reorder = context_.rank() != 3;
  const std::string message =
      message_on_all_ranks(ErrorKind::usage, [&] { const Grid<2> grid(context_, options); });
  EXPECT_NE(message.find("gave different options for one Grid"), std::string::npos) << message;
}

TEST_F(GridOrder, KeepsTheOrderWhereNothingIsGained) {
  const Grid<1> grid(context_, {.cells = {64}, .periodic = {true}});
  EXPECT_EQ(grid.explain(),
            "process grid 8, ranks in order: no method gains 3 % (machine, 8 ranks on 2 hosts)");
}

}  // namespace
}  // namespace selvage::test
