#include "halo_slabs.hpp"
#include "thrown.hpp"

#include <optional>
#include <string>

namespace selvage::test {
namespace {

struct PutTwice {
  HaloPort port;
  HaloPort::Box box;
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const auto turn = port.open(team);
    // Too much: the box is a part, so its cells are counted, and they are more than the neighbour keeps.
    for (int again = 0; again < 4; ++again) turn.put(team, 0, box);
    turn.close(team);
  }
};

TEST(HaloPort, ReportsCellsPutTwice) {
  const Context context(MPI_COMM_WORLD);
  const Grid<2> grid(context, {.cells = {8 * context.size(), 9}, .periodic = {true, true}});
  const Space space;
  const auto u = grid.allocate<double>("u", 1);
  HaloExchange halo(space, grid, {.width = 1, .corners = false}, u);
  const HaloPort port = halo.device(space, u);
  // 4 x 5 of 9 cells of a row: 20 is no multiple of 9, so some count passes 9.
  Kokkos::parallel_for("test::twice", Policy(space, 1, team_size),
                       PutTwice{port, {.begin = {1, 1, 0}, .end = {2, 6, 1}}});
  space.fence();
  const auto error = thrown_by([&] { halo.check(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::usage) << error->message();
  EXPECT_NE(error->message().find("in one step of a HaloPort: that rank keeps"), std::string::npos)
      << error->message();
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(HaloPort, NamesANeighbourThatNothingReaches) {
  const ScopedVariable proxy("SELVAGE_PROXY", "caller");
  const Context context(MPI_COMM_WORLD);
  if (context.size() == 1) GTEST_SKIP() << "no neighbours";
  const Grid<1> grid(context, {.cells = {10 * context.size()}, .periodic = {true}});
  const Kokkos::View<double*, Kokkos::HostSpace> heap("heap", grid.box().extent(0) + 2);
  const Kokkos::DefaultHostExecutionSpace space;
  HaloExchange halo(space, grid, {.width = 1}, heap);
  const auto error = thrown_by([&] { static_cast<void>(halo.device(space, heap)); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::unsupported);
  EXPECT_NE(error->message().find("the proxy has no thread"), std::string::npos) << error->message();
}

}  // namespace
}  // namespace selvage::test
