#include "halo_conformance.hpp"

#include <chrono>
#include <thread>
#include <utility>

namespace selvage::test {
namespace {

struct SetToOne {
  Kokkos::View<int, Space> target;
  KOKKOS_FUNCTION void operator()(int) const { target() = 1; }
};

// The only kernel of this file must be launched here: what Kokkos does at a file's first launch would stop the proxy.
TEST(FirstLaunch, OfASourceFileMayStandBehindAnExchangeThatWaits) {
  using Kind = FieldKind<2, double, Kokkos::LayoutRight, 0>;
  const HaloCase<2> halo_case{"periodic", {21, 24}, {true, true}, 1, true};
  const Context context(MPI_COMM_WORLD);
  const Grid<2> grid(context, {.cells = halo_case.cells, .periodic = halo_case.periodic});
  const TestField<Kind> field(grid, halo_case.width, Home::shared);
  HaloExchange halo(Space(), grid, {.width = halo_case.width}, field.view());
  const Kokkos::View<int, Space> target(Kokkos::view_alloc("target", Kokkos::WithoutInitializing));
  fill(field, grid, halo_case.width, 0, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  // The other ranks' kernels wait for this one.
  if (grid.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  auto pending = halo.start(Space(), field.view());
  halo.finish(Space(), std::move(pending));
  Kokkos::parallel_for("SetToOne", Kokkos::RangePolicy<Space>(0, 1), SetToOne{target});
  Space().fence();
  EXPECT_EQ(on_all_ranks(count_wrong(field, grid, halo_case, 0, 0)), 0);
  EXPECT_EQ(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), target)(), 1);
}

}  // namespace
}  // namespace selvage::test
