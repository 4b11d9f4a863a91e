#include "halo_fixture.hpp"

#include <selvage/comm/halo_exchange.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <optional>

namespace selvage::test {
namespace {

// Run with SELVAGE_LOGICAL_HOSTS=2+1 and SELVAGE_INITIATION=queue.

/// A rank that is alone on its host maps nobody, and nobody may wait for it to unmap.
TEST(UnevenHosts, EndExchangesAtOnce) {
  const Context context(MPI_COMM_WORLD);
  ASSERT_EQ(context.machine().host_count(), 2);
  const Grid<1> grid(context, {.cells = {30}});
  const auto u = grid.allocate<double>("u", 1);
  std::optional<HaloExchange> halo(std::in_place, Space(), grid, HaloOptions<1>{.width = 1}, u);
  halo->exchange(Space(), u);
  MPI_Barrier(MPI_COMM_WORLD);
  const auto begin = std::chrono::steady_clock::now();
  halo.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(500));
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace selvage::test
