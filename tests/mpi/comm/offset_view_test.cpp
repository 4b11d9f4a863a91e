#include "space.hpp"

#include <selvage/comm/grid.hpp>
#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_Core.hpp>
#include <Kokkos_OffsetView.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <cstdint>
#include <utility>

namespace selvage::test {
namespace {

/// Two per rank and axis at least.
constexpr std::array<std::int64_t, 2> cells{17, 16};

/// What a cell holds, and its ghosts after an exchange.
KOKKOS_FUNCTION double value_of(std::int64_t i, std::int64_t j) {
  return static_cast<double>(100 * ((i + 17) % 17) + (j + 16) % 16);
}

using Plain = decltype(std::declval<Grid<2>>().allocate<double>("", Width<2>(1)));
using ByCell = Kokkos::Experimental::OffsetView<double**, Plain::array_layout, Plain::memory_space>;

/// Poisoned outside of the box.
void fill(const Plain& plain, const ByCell& by_cell, const Box<2>& box) {
  Kokkos::deep_copy(plain, -1.0);
  const std::int64_t row = box.extent(1);
  Kokkos::parallel_for(
      "fill", Kokkos::RangePolicy<Space>(0, box.cells()), KOKKOS_LAMBDA(std::int64_t cell) {
        const std::int64_t i = box.begin[0] + cell / row;
        const std::int64_t j = box.begin[1] + cell % row;
        by_cell(i, j) = value_of(i, j);
      });
}

/// A rank's part of a periodic grid, indexed by the numbers of the global cells.
class OffsetViews : public testing::Test {
 protected:
  [[nodiscard]] auto on_host_now() const {
    Space().fence();
    const auto copy = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), plain);
    return [copy, begin = box.begin](std::int64_t i, std::int64_t j) {
      return copy(i - begin[0] + 1, j - begin[1] + 1);
    };
  }

  const Context context{MPI_COMM_WORLD};
  const Grid<2> grid{context, {.cells = cells, .periodic = {true, true}}};
  const Box<2> box = grid.box();
  const Plain plain = grid.allocate<double>("cells", 1);
  const ByCell by_cell{plain, {box.begin[0] - 1, box.begin[1] - 1}};
};

TEST_F(OffsetViews, AreExchanged) {
  HaloExchange halo(Space(), grid, {.width = 1}, by_cell);
  fill(plain, by_cell, box);
  halo.exchange(Space(), by_cell);
  const auto values = on_host_now();
  for (std::int64_t i = box.begin[0] - 1; i <= box.end[0]; ++i) {
    for (std::int64_t j = box.begin[1] - 1; j <= box.end[1]; ++j) {
      EXPECT_EQ(values(i, j), value_of(i, j)) << i << ", " << j;
    }
  }
}

TEST_F(OffsetViews, AreTheViewsThatTheyIndex) {
  HaloExchange halo(Space(), grid, {.width = 1}, by_cell);
  fill(plain, by_cell, box);
  halo.finish(Space(), halo.start(Space(), plain));
  const auto values = on_host_now();
  EXPECT_EQ(values(box.end[0], box.end[1]), value_of(box.end[0], box.end[1]));
}

TEST_F(OffsetViews, AreReduced) {
  HaloExchange halo(Space(), grid, {.width = 1, .corners = false}, by_cell);
  Kokkos::deep_copy(plain, 1.0);
  halo.reduce(Space(), ReduceOperation::sum, by_cell);
  const auto values = on_host_now();
  // A cell at a face of its box is one ghost of the rank beyond, or, in a corner, of two.
  EXPECT_EQ(values(box.begin[0], box.begin[1]), 3.0);
}

}  // namespace
}  // namespace selvage::test
