#include "halo_conformance.hpp"
#include "thrown.hpp"

#include <string>

namespace selvage::test {
namespace {

// Run with SELVAGE_LOGICAL_HOSTS=HxR for HR ranks; H and R are at least 2.
using Kind = FieldKind<1, double, Kokkos::LayoutRight, 0>;

TEST(LogicalHosts, UsePeersInsideAndMpiBetweenThem) {
  const Context context(MPI_COMM_WORLD);
  const int hosts = context.machine().host_count();
  ASSERT_GE(hosts, 2);
  const Grid<1> grid(context, {.cells = {40}, .periodic = {true}});
  const TestField<Kind> field(grid, 1, Home::shared);
  const HaloExchange halo(Space(), grid, {.width = 1}, field.view());
  const std::string text = halo.explain();
  const std::string between(to_string(on_host ? Transport::mpi_direct : chosen_mpi(context)));
  for (const int step : {-1, 1}) {
    const int there = grid.neighbour({step});
    const bool inside = context.machine().same_host(grid.rank(), there);
    const std::string line = "rank " + std::to_string(there) + " at " + (step < 0 ? "-" : "+") + ": " +
                             (inside ? "peer" : between);
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
  EXPECT_NE(text.find("same host, all Views in shared memory"), std::string::npos) << text;
  const int ranks_per_host = grid.size() / hosts;
  const bool at_the_edge = grid.rank() % ranks_per_host == 0 || (grid.rank() + 1) % ranks_per_host == 0;
  EXPECT_EQ(text.find("not peer: the rank is on another host") != std::string::npos, at_the_edge) << text;
}

TEST(LogicalHosts, RefuseForcedPeersOnAllRanks) {
  const Context context(MPI_COMM_WORLD);
  const Grid<1> grid(context, {.cells = {40}, .periodic = {true}});
  const TestField<Kind> field(grid, 1, Home::shared);
  const std::string message = message_on_all_ranks(ErrorKind::unsupported, [&] {
    const HaloExchange halo(Space(), grid, {.width = 1, .transport = Transport::peer}, field.view());
  });
  EXPECT_NE(message.find("the rank is on another host"), std::string::npos) << message;
}

TEST(LogicalHosts, MixPeersAndMpiInOneExactExchange) {
  const Context context(MPI_COMM_WORLD);
  const HaloCase<3> halo_case{"periodic", {8, 9, 10}, {true, true, true}, {{1, 2}, {1, 1}, {2, 1}}, true};
  const Grid<3> grid(context, {.cells = halo_case.cells, .periodic = halo_case.periodic});
  for (const GhostReuse reuse : {GhostReuse::credit, GhostReuse::alternating}) {
    const HaloOptions<3> options{.width = halo_case.width, .ghost_reuse = reuse};
    expect_exact<FieldKind<3, float, Kokkos::LayoutLeft, 2>>(grid, halo_case, options, Home::shared);
  }
}

}  // namespace
}  // namespace selvage::test
