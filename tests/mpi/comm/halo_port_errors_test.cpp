#include "halo_slabs.hpp"
#include "thrown.hpp"

#include <optional>
#include <string>

namespace selvage::test {
namespace {

/// Long enough for all ranks to make a Context on a busy machine, once they have come together.
TEST(HaloPort, ReportsALatePeer) {
  const ShortTimeout milliseconds;
  MPI_Barrier(MPI_COMM_WORLD);
  const Context context(MPI_COMM_WORLD);
  if (context.size() == 1) GTEST_SKIP() << "nobody to wait for";
  const Grid<1> grid(context, {.cells = {10 * context.size()}, .periodic = {true}});
  const Space space;
  const auto u = grid.allocate<double>("u", 1);
  const auto v = grid.allocate<double>("v", 1);
  HaloExchange halo(space, grid, {.width = 1, .ghost_reuse = GhostReuse::alternating}, u, v);
  const HaloPort port = halo.device(space, u, v);
  const Slabs<1> slabs(grid, 1);
  const auto make_round = [&](int round) {
    Kokkos::parallel_for("test::put", Policy(space, slabs.count(), team_size),
                         PutSlabs<1>{port, slabs, round % 2});
    halo.await(space, port);
    space.fence();
  };
  for (int round = 0; round < 2; ++round) make_round(round);
  EXPECT_NO_THROW(halo.check());
  const int late = context.size() - 1;
  std::optional<Error> error;
  if (context.rank() != late) {
    make_round(2);
    error = thrown_by([&] { halo.check(); });
  }
  const bool beside = context.rank() != late && (context.rank() == 0 || context.rank() == late - 1);
  EXPECT_EQ(error.has_value(), beside);
  if (error) {
    EXPECT_EQ(error->kind(), ErrorKind::timeout);
    const std::string wanted = "a kernel waited " + short_timeout_ms + " ms for rank " +
                               std::to_string(late) + " (HaloPort, arrival epoch 3 wanted, 2 seen)";
    EXPECT_NE(error->message().find(wanted), std::string::npos) << error->message();
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Who has given up leaves out steps; what it puts later must not pass for them.
TEST(HaloPort, PutsNothingAfterAFailure) {
  const ShortTimeout milliseconds;
  MPI_Barrier(MPI_COMM_WORLD);
  const Context context(MPI_COMM_WORLD);
  if (context.size() == 1) GTEST_SKIP() << "nobody to wait for";
  const Grid<1> grid(context, {.cells = {10 * context.size()}, .periodic = {true}});
  const Space space;
  const auto u = grid.allocate<double>("u", 1);
  const auto v = grid.allocate<double>("v", 1);
  HaloExchange halo(space, grid, {.width = 1, .ghost_reuse = GhostReuse::alternating}, u, v);
  const HaloPort port = halo.device(space, u, v);
  const Slabs<1> slabs(grid, 1);
  const bool is_late = context.rank() == context.size() - 1;
  const auto error_of_round = [&](int round) {
    Kokkos::parallel_for("test::put", Policy(space, slabs.count(), team_size),
                         PutSlabs<1>{port, slabs, round % 2});
    halo.await(space, port);
    space.fence();
    return thrown_by([&] { halo.check(); });
  };
  EXPECT_FALSE(error_of_round(0));
  if (!is_late) static_cast<void>(error_of_round(1));
  MPI_Barrier(MPI_COMM_WORLD);
  if (is_late) {
    EXPECT_FALSE(error_of_round(1)) << "the others had put before they gave up";
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const auto error = error_of_round(2);
  if (is_late) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind(), ErrorKind::timeout);
    EXPECT_NE(error->message().find("arrival epoch 3 wanted, 2 seen"), std::string::npos) << error->message();
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(HaloPort, ReportsAPeerThatGivesNoCredit) {
  const ShortTimeout milliseconds;
  MPI_Barrier(MPI_COMM_WORLD);
  const Context context(MPI_COMM_WORLD);
  if (context.size() == 1) GTEST_SKIP() << "nobody to wait for";
  const Width<1> width{Side{1, 0}};
  const Grid<1> grid(context, {.cells = {10 * context.size()}, .periodic = {true}});
  const Space space;
  const auto u = grid.allocate<double>("u", width);
  HaloExchange halo(space, grid, {.width = width}, u);
  const HaloPort port = halo.device(space, u);
  const Slabs<1> slabs(grid, width);
  const int late = context.size() - 1;
  if (context.rank() == late - 1) {
    // The proxy form stores one step ahead, and another is on its way.
    for (int launch = 0; launch < 3; ++launch)
      Kokkos::parallel_for("test::put", Policy(space, slabs.count(), team_size), PutSlabs<1>{port, slabs, 0});
    space.fence();
    const auto error = thrown_by([&] { halo.check(); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind(), ErrorKind::timeout);
    const std::string wanted = "a kernel waited " + short_timeout_ms + " ms for rank " +
                               std::to_string(late) + " (HaloPort, credit epoch ";
    EXPECT_NE(error->message().find(wanted), std::string::npos) << error->message();
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

struct PutTwice {
  HaloPort port;
  PortBox box;
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
