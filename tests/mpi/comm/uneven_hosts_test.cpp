#include "halo_fixture.hpp"

#include <selvage/comm/halo_exchange.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <optional>

namespace {

int barriers = 0;

}  // namespace

/// Counts where this rank meets others to unmap; the library calls it before MPI's own.
extern "C" int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  ++barriers;
  return PMPI_Ibarrier(comm, request);
}

namespace selvage::test {
namespace {

// Run with SELVAGE_LOGICAL_HOSTS=2+1 and SELVAGE_INITIATION=queue.

/// How often a rank has met others; the same for all, or some wait in vain. Collective.
int meetings_of_all_ranks() {
  const int own = barriers;
  int least = 0;
  int most = 0;
  MPI_Allreduce(&own, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&own, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_EQ(least, most) << "this rank: " << own;
  return most;
}

/// A rank that is alone on its host maps nobody, and nobody may wait for it to unmap.
TEST(UnevenHosts, EndExchangesAtOnce) {
  const Context context(MPI_COMM_WORLD);
  ASSERT_EQ(context.machine().host_count(), 2);
  const Grid<1> grid(context, {.cells = {30}});
  const auto u = grid.allocate<double>("u", 1);
  std::optional<HaloExchange> halo(std::in_place, Space(), grid, HaloOptions<1>{.width = 1}, u);
  halo->exchange(Space(), u);
  MPI_Barrier(MPI_COMM_WORLD);
  barriers = 0;
  halo.reset();
  EXPECT_EQ(meetings_of_all_ranks(), on_host ? 0 : 1);
}

/// A port of a rank with neighbours on other hosts has a proxy, and all ranks meet where it ends.
TEST(UnevenHosts, MeetWhereTheirPortsEnd) {
  const Context context(MPI_COMM_WORLD);
  const Grid<1> grid(context, {.cells = {30}});
  const auto u = grid.allocate<double>("u", 1);
  std::optional<HaloExchange> halo(std::in_place, Space(), grid, HaloOptions<1>{.width = 1}, u);
  static_cast<void>(halo->device(Space(), u));
  MPI_Barrier(MPI_COMM_WORLD);
  barriers = 0;
  halo.reset();
  EXPECT_GT(meetings_of_all_ranks(), 0);
}

}  // namespace
}  // namespace selvage::test
