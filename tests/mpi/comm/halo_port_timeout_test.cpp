// Kernels that wait in vain for a rank beside theirs.
#include "halo_slabs.hpp"
#include "thrown.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <optional>
#include <string>

namespace {

thread_local int yields = 0;

}  // namespace

/// Counts how often this thread has given its core away; the library calls it before the C library's own.
extern "C" int sched_yield() noexcept {
  ++yields;
  return static_cast<int>(syscall(SYS_sched_yield));
}

namespace selvage::test {
namespace {

TEST(HaloPortTimeout, NamesALatePeer) {
  const ShortTimeout milliseconds;
  const Context context(MPI_COMM_WORLD);
  const Grid<1> grid(context, {.cells = {10 * context.size()}, .periodic = {true}, .reorder = false});
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
  int yields_in_vain = 0;
  if (context.rank() != late) {
    yields = 0;
    make_round(2);
    yields_in_vain = yields;
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
  if (error && on_host) {
    // Where a proxy carries the messages, its thread needs a core, too.
    const bool by_proxy = halo.explain().find("by proxy") != std::string::npos;
    EXPECT_EQ(yields_in_vain > 0, by_proxy || context.machine().ranks_exceed_cores(context.rank()))
        << "in the wait that failed";
    yields = 0;
    for (int round = 3; round < 1000; ++round) make_round(round);
    EXPECT_EQ(yields, 0) << "launches after a failure wait for nobody";
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Who has given up leaves out steps; what it puts later must not pass for them.
TEST(HaloPortTimeout, PutsNothingAfterAFailure) {
  const ShortTimeout milliseconds;
  const Context context(MPI_COMM_WORLD);
  const Grid<1> grid(context, {.cells = {10 * context.size()}, .periodic = {true}, .reorder = false});
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

TEST(HaloPortTimeout, ReportsAPeerThatGivesNoCredit) {
  const ShortTimeout milliseconds;
  const Context context(MPI_COMM_WORLD);
  const Width<1> width{{1, 0}};
  const Grid<1> grid(context, {.cells = {10 * context.size()}, .periodic = {true}, .reorder = false});
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

}  // namespace
}  // namespace selvage::test
