#include "halo_conformance.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace selvage::test {
namespace {

constexpr int partitions_per_case = 2;

/// Every ghost that the partition gives a rank is filled, whatever the cuts.
template <int D>
const std::vector<HaloCase<D>>& cases() {
  if constexpr (D == 1) {
    static const std::vector<HaloCase<1>> all{{"walls", {53}, {false}, 2},
                                              {"periodic", {53}, {true}, {{3, 1}}}};
    return all;
  } else if constexpr (D == 2) {
    static const std::vector<HaloCase<2>> all{{"walls", {24, 31}, {false, false}, 1},
                                              {"mixed", {27, 22}, {true, false}, {{2, 1}, {1, 2}}},
                                              {"periodic", {26, 25}, {true, true}, 2}};
    return all;
  } else {
    static const std::vector<HaloCase<3>> all{
        {"mixed", {12, 13, 14}, {true, false, true}, 1},
        {"periodic", {14, 13, 12}, {true, true, true}, {{1, 1}, {0, 2}, {2, 1}}}};
    return all;
  }
}

/// Cuts that leave each part as many cells as a halo is wide.
template <int D>
std::array<std::vector<std::int64_t>, D> random_splits(const Grid<D>& equal, const HaloCase<D>& halo,
                                                       std::minstd_rand& dice) {
  std::array<std::vector<std::int64_t>, D> splits;
  for (int axis = 0; axis < D; ++axis) {
    const int parts = equal.ranks()[axis];
    const std::int64_t least = std::max({halo.width[axis].low, halo.width[axis].high, 1});
    std::vector<std::int64_t> extra;  // cells beyond the least, before each cut
    for (int cut = 1; cut < parts; ++cut)
      extra.push_back(static_cast<std::int64_t>(dice() % (halo.cells[axis] - parts * least + 1)));
    std::ranges::sort(extra);
    for (int cut = 1; cut < parts; ++cut)
      splits[axis].push_back(cut * least + extra[static_cast<std::size_t>(cut - 1)]);
  }
  return splits;
}

/// Cuts a box again and again at random places, the largest part first, and deals the parts out in any order.
template <int D>
std::vector<Box<D>> random_boxes(const HaloCase<D>& halo, int ranks, std::minstd_rand& dice) {
  std::vector<Box<D>> boxes{{.begin = {}, .end = halo.cells}};
  while (static_cast<int>(boxes.size()) < ranks) {
    const auto largest = std::ranges::max_element(boxes, {}, &Box<D>::cells);
    int axis = static_cast<int>(dice() % D);
    while (largest->extent(axis) < 2) axis = (axis + 1) % D;
    Box<D> upper = *largest;
    const std::int64_t cut =
        largest->begin[axis] + 1 + static_cast<std::int64_t>(dice() % (largest->extent(axis) - 1));
    largest->end[axis] = upper.begin[axis] = cut;
    boxes.push_back(upper);
  }
  std::ranges::shuffle(boxes, dice);
  return boxes;
}

/// Over every transport and initiation. \param make_grid  from a case and dice that all ranks throw alike
template <int D, class MakeGrid>
void expect_filled(const MakeGrid& make_grid) {
  using Kind = FieldKind<D, float, Kokkos::LayoutStride, 3>;
  for (const HaloCase<D>& halo : cases<D>()) {
    for (unsigned seed = 1; seed <= partitions_per_case; ++seed) {
      SCOPED_TRACE(halo.name + ", seed " + std::to_string(seed));
      std::minstd_rand dice(seed * 7919);
      const Grid<D> grid = make_grid(halo, dice);
      EXPECT_GE(expect_exact_everywhere<Kind>(grid, halo), least_combinations());
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

template <int D>
auto by_cuts(const Context& context) {
  return [&context](const HaloCase<D>& halo, std::minstd_rand& dice) {
    const Grid<D> equal(context, {.cells = halo.cells, .periodic = halo.periodic});
    const auto splits = random_splits(equal, halo, dice);
    const Grid<D> grid(
        context, {.cells = halo.cells, .periodic = halo.periodic, .ranks = equal.ranks(), .splits = splits});
    for (int axis = 0; axis < D; ++axis) {
      const auto part = static_cast<std::size_t>(grid.coordinates()[axis]);
      EXPECT_EQ(grid.box().begin[axis], part == 0 ? 0 : splits[axis][part - 1]);
    }
    return grid;
  };
}

template <int D>
auto by_boxes(const Context& context) {
  return [&context](const HaloCase<D>& halo, std::minstd_rand& dice) {
    const std::vector<Box<D>> boxes = random_boxes(halo, context.size(), dice);
    return Grid<D>(context, {.cells = halo.cells, .periodic = halo.periodic},
                   boxes[static_cast<std::size_t>(context.rank())]);
  };
}

TEST(RandomCuts, FillGhostsExactlyOverEveryTransportAndInitiation) {
  const Context context(MPI_COMM_WORLD);
  expect_filled<1>(by_cuts<1>(context));
  expect_filled<2>(by_cuts<2>(context));
  expect_filled<3>(by_cuts<3>(context));
}

TEST(RandomBoxes, FillGhostsExactlyOverEveryTransportAndInitiation) {
  const Context context(MPI_COMM_WORLD);
  expect_filled<1>(by_boxes<1>(context));
  expect_filled<2>(by_boxes<2>(context));
  expect_filled<3>(by_boxes<3>(context));
}

/// How often a global cell is kept: by its owner, and as a ghost of each box within reach.
template <int D>
int copies_of(const std::array<std::int64_t, D>& cell, const Grid<D>& grid, const Width<D>& width) {
  int copies = 0;
  for (int rank = 0; rank < grid.size(); ++rank) {
    const Box<D> box = grid.box_of(rank);
    int images = 1;
    for (int axis = 0; axis < D; ++axis) {
      int along = 0;
      for (const std::int64_t turn : {-1, 0, 1}) {
        const std::int64_t there = cell[axis] + turn * grid.cells()[axis];
        if (turn != 0 && !grid.periodic()[axis]) continue;
        if (there >= box.begin[axis] - width[axis].low && there < box.end[axis] + width[axis].high) ++along;
      }
      images *= along;
    }
    copies += images;
  }
  return copies;
}

/// Every copy of a cell holds 1, so the owner's sum says how many there are.
TEST(RandomBoxes, AddGhostsToTheirOwners) {
  const Context context(MPI_COMM_WORLD);
  using Kind = FieldKind<2, double, Kokkos::LayoutRight, 0>;
  const Space space;
  for (const HaloCase<2>& halo_case : cases<2>()) {
    for (unsigned seed = 1; seed <= partitions_per_case; ++seed) {
      SCOPED_TRACE(halo_case.name + ", seed " + std::to_string(seed));
      std::minstd_rand dice(seed * 104'729);
      const Grid<2> grid = by_boxes<2>(context)(halo_case, dice);
      const TestField<Kind> field(grid, halo_case.width, Home::shared);
      HaloExchange halo(space, grid, {.width = halo_case.width}, field.view());
      Kokkos::deep_copy(field.view(), 1.0);
      halo.reduce(space, ReduceOperation::sum, field.view());
      space.fence();
      field.to_host();
      int wrong = 0;
      const auto image = field.host();
      for_each_index(field.extents(), [&](const Index& index) {
        const auto location = locate(grid, halo_case.width, index);
        if (location.steps() > 0) return;
        if (element(image, index) != copies_of<2>(location.cell, grid, halo_case.width)) ++wrong;
      });
      EXPECT_EQ(on_all_ranks(wrong), 0) << halo.explain();
    }
  }
}

/// Several neighbours may lie in one direction: their ghosts are added by rank, so that the bits don't depend on transports.
TEST(RandomBoxes, AddGhostsInOneOrderOverEveryTransport) {
  const Context context(MPI_COMM_WORLD);
  using Kind = FieldKind<2, double, Kokkos::LayoutRight, 0>;
  const Space space;
  const HaloCase<2>& halo_case = cases<2>().back();
  std::minstd_rand dice(11);
  const Grid<2> grid = by_boxes<2>(context)(halo_case, dice);
  std::vector<double> first;
  for (const Transport transport : halo_transports()) {
    if (!is_available(context, transport)) continue;
    const TestField<Kind> field(grid, halo_case.width, Home::shared);
    HaloExchange halo(space, grid, {.width = halo_case.width, .transport = transport}, field.view());
    const auto image = field.host();
    for_each_index(field.extents(), [&](const Index& index) {
      element(image, index) = 1.0 / static_cast<double>(3 + context.rank() + 7 * index[0] + 11 * index[1]);
    });
    field.to_device();
    halo.reduce(space, ReduceOperation::sum, field.view());
    space.fence();
    field.to_host();
    std::vector<double> sums;
    for_each_index(field.extents(), [&](const Index& index) {
      if (locate(grid, halo_case.width, index).steps() == 0) sums.push_back(element(image, index));
    });
    if (first.empty()) first = sums;
    EXPECT_EQ(on_all_ranks(sums == first ? 0 : 1), 0) << halo.explain();
  }
}

/// What needs one neighbour per direction says so.
TEST(RandomBoxes, HaveNoProcessGrid) {
  const Context context(MPI_COMM_WORLD);
  std::minstd_rand dice(1);
  const HaloCase<2>& halo_case = cases<2>().front();
  const Grid<2> grid = by_boxes<2>(context)(halo_case, dice);
  EXPECT_FALSE(grid.has_process_grid());
  const auto expect_error = [](ErrorKind kind, const std::string& text, const auto& function) {
    const auto error = thrown_by(function);
    ASSERT_TRUE(error);
    EXPECT_EQ(to_string(error->kind()), to_string(kind));
    EXPECT_NE(error->message().find(text), std::string::npos) << error->message();
  };
  expect_error(ErrorKind::usage, "no coordinates", [&] { static_cast<void>(grid.coordinates()); });
  expect_error(ErrorKind::usage, "no neighbour in a direction", [&] {
    static_cast<void>(grid.neighbour({0, 1}));
  });
  const auto view = grid.allocate<double>("u", 1);
  expect_error(ErrorKind::unsupported, "corners = false",
               [&] { const HaloExchange halo(Space(), grid, {.width = 1, .corners = false}, view); });
  HaloExchange halo(Space(), grid, {.width = 1}, view);
  expect_error(ErrorKind::unsupported, "needs a process grid",
               [&] { static_cast<void>(halo.device(Space(), view)); });
}

}  // namespace
}  // namespace selvage::test
