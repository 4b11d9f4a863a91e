#include "c_interface.hpp"

#include <selvage/selvage.h>

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

namespace selvage::test {
namespace {

class CHalos : public CInterface {};

TEST_P(CHalos, HalosFillTheGhostsOfTheFieldsThatAreNamed) {
  ASSERT_NO_FATAL_FAILURE(make_grid());
  Array<double> u(GetParam(), elements()), v(GetParam(), elements());
  fill(u, 1);
  fill(v, 2);
  ASSERT_NO_FATAL_FAILURE(make_halo({field_of(u), field_of(v)}));
  const int second = 1;
  SELVAGE_OK(selvage_halo_exchange(halo.get(), 1, &second));
  EXPECT_EQ(wrong(v, 2), 0);
  EXPECT_GT(wrong(u, 1), 0) << "u was not named";
  SELVAGE_OK(selvage_halo_exchange(halo.get(), 0, nullptr));
  EXPECT_EQ(wrong(u, 1), 0);
  SELVAGE_OK(selvage_halo_check(halo.get()));
  EXPECT_NE(std::string(selvage_halo_explain(halo.get())).find("2 Views"), std::string::npos);
}

TEST_P(CHalos, HalosAreStartedAndFinished) {
  ASSERT_NO_FATAL_FAILURE(make_grid());
  Array<double> u(GetParam(), elements());
  ASSERT_NO_FATAL_FAILURE(make_halo({field_of(u)}));
  for (int round = 1; round <= 3; ++round) {
    fill(u, round);
    SELVAGE_OK(selvage_halo_start(halo.get(), 0, nullptr));
    EXPECT_TRUE(fails(selvage_halo_start(halo.get(), 0, nullptr), SELVAGE_USAGE, "finish it first"));
    EXPECT_TRUE(fails(selvage_halo_exchange(halo.get(), 0, nullptr), SELVAGE_USAGE, "finish it first"));
    SELVAGE_OK(selvage_halo_finish(halo.get()));
    EXPECT_EQ(wrong(u, round), 0) << "round " << round;
  }
  EXPECT_TRUE(fails(selvage_halo_finish(halo.get()), SELVAGE_USAGE, "no exchange of this halo was started"));
}

TEST_P(CHalos, HalosTakeOtherArrays) {
  ASSERT_NO_FATAL_FAILURE(make_grid());
  Array<double> u(GetParam(), elements()), v(GetParam(), elements());
  Array<std::int64_t> counts(GetParam(), elements());
  ASSERT_NO_FATAL_FAILURE(make_halo({field_of(u)}));
  const std::array<selvage_field, 2> others{field_of(v), field_of(counts)};
  fill(u, 1);
  fill(v, 2);
  SELVAGE_OK(selvage_halo_start(halo.get(), 0, nullptr));
  EXPECT_TRUE(fails(selvage_halo_rebind(halo.get(), 1, others.data()), SELVAGE_USAGE, "finish it first"));
  SELVAGE_OK(selvage_halo_finish(halo.get()));
  EXPECT_EQ(wrong(u, 1), 0);
  EXPECT_GT(wrong(v, 2), 0);
  // On one rank, and all are told.
  EXPECT_TRUE(fails(selvage_halo_rebind(halo.get(), 1, rank == 0 ? nullptr : others.data()), SELVAGE_USAGE,
                    "the list of fields"));
  EXPECT_TRUE(fails(selvage_halo_rebind(halo.get(), 2, others.data()), SELVAGE_USAGE, "of 1 View to 2"));
  fill(u, 3);
  SELVAGE_OK(selvage_halo_exchange(halo.get(), 0, nullptr));
  EXPECT_EQ(wrong(u, 3), 0) << "it keeps what it had";
  SELVAGE_OK(selvage_halo_rebind(halo.get(), 1, others.data()));
  fill(u, 4);
  SELVAGE_OK(selvage_halo_exchange(halo.get(), 0, nullptr));
  EXPECT_EQ(wrong(v, 2), 0);
  EXPECT_GT(wrong(u, 4), 0);
  SELVAGE_OK(selvage_halo_rebind(halo.get(), 1, &others[1]));
  SELVAGE_OK(selvage_halo_reduce(halo.get(), 0, SELVAGE_INT64, SELVAGE_SUM));
  EXPECT_TRUE(fails(selvage_halo_reduce(halo.get(), 0, SELVAGE_FLOAT, SELVAGE_SUM), SELVAGE_USAGE,
                    "has elements of 8 bytes"));
}

/// Three bytes, which no number has.
struct Colour {
  unsigned char red, green, blue;
};

TEST_P(CHalos, HalosMoveElementsOfAnySizeWithComponents) {
  ASSERT_NO_FATAL_FAILURE(make_grid());
  constexpr int components = 2;
  Array<Colour> colours(GetParam(), components * elements());
  const auto colour_of = [](std::int64_t i, std::int64_t j, int component) {
    const auto value = static_cast<int>(value_of(i, j));
    return Colour{static_cast<unsigned char>(value / 100), static_cast<unsigned char>(value % 100),
                  static_cast<unsigned char>(component)};
  };
  each_cell([&](std::int64_t i, std::int64_t j) {
    for (int c = 0; c < components; ++c)
      colours[at(i, j) * components + static_cast<std::size_t>(c)] =
          is_own(i, j) ? colour_of(i, j, c) : Colour{255, 255, 255};
  });
  colours.put();
  const selvage_field field{colours.data(),
                            sizeof(Colour),
                            3,
                            {extents[0], extents[1], components, 0},
                            {components, components * extents[0], 1, 0}};
  ASSERT_NO_FATAL_FAILURE(make_halo({field}));
  SELVAGE_OK(selvage_halo_exchange(halo.get(), 0, nullptr));
  colours.get();
  int wrong_ones = 0;
  each_cell([&](std::int64_t i, std::int64_t j) {
    for (int c = 0; c < components; ++c) {
      const Colour want = colour_of(i, j, c);
      wrong_ones +=
          std::memcmp(&want, &colours[at(i, j) * components + static_cast<std::size_t>(c)], sizeof want) != 0;
    }
  });
  EXPECT_EQ(wrong_ones, 0);
}

TEST_P(CHalos, HalosReduceGhostsAtTheirOwner) {
  ASSERT_NO_FATAL_FAILURE(make_grid());
  Array<std::int64_t> counts(GetParam(), elements());
  each_cell([&](std::int64_t i, std::int64_t j) { counts[at(i, j)] = 1; });
  counts.put();
  ASSERT_NO_FATAL_FAILURE(make_halo({field_of(counts)}));
  SELVAGE_OK(selvage_halo_reduce(halo.get(), 0, SELVAGE_INT64, SELVAGE_SUM));
  counts.get();
  std::int64_t own = 0;
  each_cell([&](std::int64_t i, std::int64_t j) { own += is_own(i, j) ? counts[at(i, j)] : 0; });
  std::array<std::int64_t, 2> sums{own, static_cast<std::int64_t>(elements())};
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(sums[0], sums[1]) << "each cell and each ghost counts once";
  EXPECT_TRUE(fails(selvage_halo_reduce(halo.get(), 0, SELVAGE_FLOAT, SELVAGE_SUM), SELVAGE_USAGE,
                    "has elements of 8 bytes, and the type has 4"));
  EXPECT_TRUE(fails(selvage_halo_reduce(halo.get(), 0, SELVAGE_INT64, SELVAGE_AVERAGE), SELVAGE_USAGE,
                    "by sum, product, min or max"));
}

TEST_P(CHalos, GridsTellOfBoxesAndNeighbours) {
  ASSERT_NO_FATAL_FAILURE(make_grid());
  std::int64_t cells = 0;
  for (int other = 0; other < size; ++other) {
    std::array<std::int64_t, 2> first{}, last{};
    SELVAGE_OK(selvage_grid_box(grid.get(), other, first.data(), last.data()));
    cells += (last[0] - first[0]) * (last[1] - first[1]);
  }
  EXPECT_EQ(cells, rows * columns);
  const std::array<int, 2> up{1, 0};
  int next = -1;
  SELVAGE_OK(selvage_grid_neighbour(grid.get(), up.data(), &next));
  std::array<std::int64_t, 2> first{}, last{};
  SELVAGE_OK(selvage_grid_box(grid.get(), next, first.data(), last.data()));
  EXPECT_EQ(first[0], end[0] % rows);
  EXPECT_TRUE(
      fails(selvage_grid_box(grid.get(), size, first.data(), last.data()), SELVAGE_USAGE, "the box of rank"));
  first[0] = -111;
  EXPECT_TRUE(fails(selvage_grid_box(grid.get(), rank, first.data(), nullptr), SELVAGE_USAGE,
                    "where to put the box's end"));
  EXPECT_EQ(first[0], -111);
  const std::array<int, 2> far{7, 0};
  EXPECT_TRUE(fails(selvage_grid_neighbour(grid.get(), far.data(), &next), SELVAGE_USAGE, "not 7 on axis 0"));
}

TEST_P(CHalos, HalosThatFailOnOneRankFailOnAll) {
  ASSERT_NO_FATAL_FAILURE(make_grid());
  Array<double> u(GetParam(), elements());
  const selvage_field field = field_of(u);
  selvage_halo_options options{};
  for (int axis = 0; axis < 2; ++axis) std::ranges::copy(ghosts[axis], options.width[axis]);
  const bool is_last = rank == size - 1;
  const std::string on_last = size == 1 ? "" : " (on rank " + std::to_string(size - 1) + ")";
  selvage_halo* made = nullptr;
  EXPECT_TRUE(fails(selvage_halo_create(grid.get(), &options, 1, &field, is_last ? nullptr : &made),
                    SELVAGE_USAGE, "where to put the halo"));
  EXPECT_EQ(made, nullptr);
  EXPECT_TRUE(fails(selvage_halo_create(grid.get(), &options, is_last ? 0 : 1, &field, &made), SELVAGE_USAGE,
                    "a halo of 0 fields" + on_last));
}

TEST_P(CHalos, GridsTakeBoxesOfTheCallers) {
  // A line of ranks along the second axis, the last of which have less.
  const std::int64_t share = (columns + size - 1) / size;
  begin = {0, std::min<std::int64_t>(rank * share, columns)};
  end = {rows, std::min<std::int64_t>((rank + 1) * share, columns)};
  ASSERT_LT((size - 1) * share, columns) << "a rank would have no cell";
  selvage_grid_options options{
      .axes = 2, .cells = {rows, columns}, .periodic = {1, 1}, .ranks = {}, .keep_order = 0};
  selvage_grid* made = nullptr;
  SELVAGE_OK(selvage_grid_create_of_boxes(context.get(), &options, begin.data(), end.data(), &made));
  grid.reset(made);
  for (int axis = 0; axis < 2; ++axis)
    extents[axis] = end[axis] - begin[axis] + ghosts[axis][0] + ghosts[axis][1];
  Array<double> u(GetParam(), elements());
  fill(u, 3);
  ASSERT_NO_FATAL_FAILURE(make_halo({field_of(u)}));
  SELVAGE_OK(selvage_halo_exchange(halo.get(), 0, nullptr));
  EXPECT_EQ(wrong(u, 3), 0);
}

INSTANTIATE_TEST_SUITE_P(Memories, CHalos, testing::ValuesIn(memories()), name_of);

}  // namespace
}  // namespace selvage::test
