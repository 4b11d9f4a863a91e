// Halos whose ranks have the axes of their Views in different orders in memory: both must take packed blocks in the same order.
#include "halo_fixture.hpp"
#include "job.hpp"
#include "space.hpp"

#include <selvage/comm/grid.hpp>
#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace selvage::test {
namespace {

using Memory = Kokkos::View<double***, Space>;  // whatever its layout: only its room is used
using Strided = Kokkos::View<double***, Kokkos::LayoutStride, Space, Kokkos::MemoryUnmanaged>;
using OnHost = Kokkos::View<double***, Kokkos::LayoutStride, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

class MixedLayouts : public testing::TestWithParam<std::optional<Transport>> {
 protected:
  void SetUp() override {
    if (GetParam() == Transport::peer && !this_job().is_on_one_host())
      GTEST_SKIP() << "peers are of one host";
  }

  /// Axis 0 is the slowest on even ranks and the fastest on odd ones.
  [[nodiscard]] Kokkos::LayoutStride layout() const {
    const auto [i, j, k] = std::tuple(memory_.extent(0), memory_.extent(1), memory_.extent(2));
    if (context_.rank() % 2 == 0) return Kokkos::LayoutStride(i, j * k, j, k, k, 1);
    return Kokkos::LayoutStride(i, 1, j, i, k, i * j);
  }
  /// `value(location)` of each element.
  template <class Value>
  void fill(const Value& value) {
    for_each_index(extents_,
                   [&](const Index& at) { image_(at[0], at[1], at[2]) = value(locate(grid_, width, at)); });
    Kokkos::deep_copy(memory_, mirror_);
  }
  void fetch() {
    Space().fence();
    Kokkos::deep_copy(mirror_, memory_);
  }
  [[nodiscard]] static double number_of(const Location<3>& location) {
    return static_cast<double>(cell_value<3>(location.cell, 0, 0, 0));
  }

  const Width<3> width = 1;
  const Context context_{MPI_COMM_WORLD};
  const Grid<3> grid_{context_, {.cells = {12, 10, 9}, .periodic = {true, false, true}}};
  Memory memory_ = grid_.allocate<double>("memory", width);
  Memory::HostMirror mirror_ = Kokkos::create_mirror(memory_);
  const Strided view_{memory_.data(), layout()};
  const OnHost image_{mirror_.data(), layout()};
  const Index extents_{memory_.extent_int(0), memory_.extent_int(1), memory_.extent_int(2), 1};
};
INSTANTIATE_TEST_SUITE_P(Halos, MixedLayouts,
                         testing::Values(std::optional<Transport>(), Transport::peer, Transport::mpi_staged),
                         [](const auto& tested) {
                           return tested.param ? std::string(to_string(*tested.param)) : "chosen";
                         });

TEST_P(MixedLayouts, GhostsAreTheirOwners) {
  HaloExchange halo(Space(), grid_, {.width = width, .transport = GetParam()}, view_);
  fill([](const Location<3>& at) { return at.steps() == 0 ? number_of(at) : -1; });
  halo.exchange(Space(), view_);
  fetch();
  for_each_index(extents_, [&](const Index& i) {
    const Location<3> at = locate(grid_, width, i);
    ASSERT_EQ(image_(i[0], i[1], i[2]), at.exists ? number_of(at) : -1) << i[0] << ' ' << i[1] << ' ' << i[2];
  });
}

TEST_P(MixedLayouts, ContributionsReachTheirCells) {
  HaloExchange halo(Space(), grid_, {.width = width, .transport = GetParam()}, view_);
  std::vector<double> copies;
  for (const bool counts : {true, false}) {
    fill([&](const Location<3>& at) { return at.steps() == 0 ? 0 : counts ? 1 : number_of(at); });
    halo.reduce(Space(), ReduceOperation::sum, view_);
    fetch();
    std::size_t next = 0;
    for_each_index(extents_, [&](const Index& i) {
      const Location<3> at = locate(grid_, width, i);
      const double sum = image_(i[0], i[1], i[2]);
      if (at.steps() > 0) return;
      if (counts) {
        copies.push_back(sum);
      } else {
        ASSERT_EQ(sum, copies[next++] * number_of(at)) << i[0] << ' ' << i[1] << ' ' << i[2];
      }
    });
  }
  EXPECT_GT(*std::ranges::max_element(copies), 0);
}

}  // namespace
}  // namespace selvage::test
