#include <selvage/selvage.h>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace selvage::test {
namespace {

using DeviceMemory = Kokkos::DefaultExecutionSpace::memory_space;
constexpr bool has_device_memory = !Kokkos::SpaceAccessibility<Kokkos::HostSpace, DeviceMemory>::accessible;

/// Elements in the memory that a test is about.
template <class T>
class Array {
 public:
  Array(selvage_memory memory, std::size_t count) : host_(count), is_device_(memory == SELVAGE_DEVICE) {
    if (is_device_) device_ = Kokkos::View<T*, DeviceMemory>("elements", count);
  }
  [[nodiscard]] T* data() { return is_device_ ? device_.data() : host_.data(); }
  [[nodiscard]] std::size_t size() const { return host_.size(); }
  /// To write, before put(), and to read, after get().
  [[nodiscard]] T& operator[](std::size_t i) { return host_[i]; }
  void put() {
    if (is_device_) Kokkos::deep_copy(device_, mirror());
  }
  void get() {
    if (is_device_) Kokkos::deep_copy(mirror(), device_);
  }
  void fill(const std::vector<T>& values) {
    std::ranges::copy(values, host_.begin());
    put();
  }

 private:
  [[nodiscard]] Kokkos::View<T*, Kokkos::HostSpace> mirror() {
    return Kokkos::View<T*, Kokkos::HostSpace>(host_.data(), host_.size());
  }

  std::vector<T> host_;
  Kokkos::View<T*, DeviceMemory> device_;
  bool is_device_;
};

struct Destroy {
  void operator()(selvage_context* context) const { selvage_context_destroy(context); }
  void operator()(selvage_grid* grid) const { selvage_grid_destroy(grid); }
  void operator()(selvage_halo* halo) const { selvage_halo_destroy(halo); }
  void operator()(selvage_list* list) const { selvage_list_destroy(list); }
  void operator()(selvage_allreduce* allreduce) const { selvage_allreduce_destroy(allreduce); }
};
template <class T>
using Owned = std::unique_ptr<T, Destroy>;

#define SELVAGE_OK(call) ASSERT_EQ(call, SELVAGE_SUCCESS) << selvage_message()

/// \return whether the call failed so, with a message that has this in it
testing::AssertionResult fails(selvage_status status, selvage_status expected, const std::string& text) {
  const std::string message = selvage_message();
  if (status == expected && message.find(text) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "status " << status << ", message: " << message;
}

constexpr int rows = 11;
constexpr int columns = 10;
/// Two columns of ghosts before a rank's, one after them, and one row on both sides.
constexpr std::array<std::array<int, 2>, 2> ghosts{{{1, 1}, {2, 1}}};

double value_of(std::int64_t i, std::int64_t j) {
  return static_cast<double>(100 * ((i + rows) % rows) + (j + columns) % columns);
}

class CInterface : public testing::TestWithParam<selvage_memory> {
 protected:
  void SetUp() override {
    SELVAGE_OK(selvage_initialize());
    selvage_context* made = nullptr;
    SELVAGE_OK(selvage_context_create(MPI_COMM_WORLD, GetParam(), nullptr, &made));
    context.reset(made);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }

  void make_grid() {
    const selvage_grid_options options{
        .axes = 2, .cells = {rows, columns}, .periodic = {1, 1}, .ranks = {0, 0}, .keep_order = 1};
    selvage_grid* made = nullptr;
    SELVAGE_OK(selvage_grid_create(context.get(), &options, &made));
    grid.reset(made);
    SELVAGE_OK(selvage_grid_box(grid.get(), rank, begin.data(), end.data()));
    for (int axis = 0; axis < 2; ++axis)
      extents[axis] = end[axis] - begin[axis] + ghosts[axis][0] + ghosts[axis][1];
  }

  /// The first axis is the fastest, as in Fortran.
  [[nodiscard]] std::size_t at(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>((i - begin[0] + ghosts[0][0]) +
                                    (j - begin[1] + ghosts[1][0]) * extents[0]);
  }
  [[nodiscard]] bool is_own(std::int64_t i, std::int64_t j) const {
    return i >= begin[0] && i < end[0] && j >= begin[1] && j < end[1];
  }
  /// function(i, j) for the global indices of cells and ghosts
  template <class Function>
  void each_cell(const Function& function) const {
    for (std::int64_t j = begin[1] - ghosts[1][0]; j < end[1] + ghosts[1][1]; ++j)
      for (std::int64_t i = begin[0] - ghosts[0][0]; i < end[0] + ghosts[0][1]; ++i) function(i, j);
  }
  [[nodiscard]] std::size_t elements() const { return static_cast<std::size_t>(extents[0] * extents[1]); }

  template <class T>
  [[nodiscard]] selvage_field field_of(Array<T>& array) const {
    return {array.data(), sizeof(T), 2, {extents[0], extents[1], 0, 0}, {1, extents[0], 0, 0}};
  }
  /// Poisoned ghosts.
  void fill(Array<double>& array, double factor) {
    each_cell([&](std::int64_t i, std::int64_t j) {
      array[at(i, j)] = is_own(i, j) ? factor * value_of(i, j) : -1;
    });
    array.put();
  }
  /// \return how many cells and ghosts hold something else than `factor` times their value
  [[nodiscard]] int wrong(Array<double>& array, double factor) {
    array.get();
    int count = 0;
    each_cell(
        [&](std::int64_t i, std::int64_t j) { count += array[at(i, j)] != factor * value_of(i, j) ? 1 : 0; });
    return count;
  }
  [[nodiscard]] static selvage_halo_options halo_options() {
    return {.width = {{ghosts[0][0], ghosts[0][1]}, {ghosts[1][0], ghosts[1][1]}, {0, 0}},
            .corners = 1,
            .alternating = 0,
            .transport = nullptr,
            .initiation = nullptr};
  }
  void make_halo(const std::vector<selvage_field>& fields) {
    const selvage_halo_options options = halo_options();
    selvage_halo* made = nullptr;
    SELVAGE_OK(
        selvage_halo_create(grid.get(), &options, static_cast<int>(fields.size()), fields.data(), &made));
    halo.reset(made);
  }

  int rank = 0;
  int size = 0;
  std::array<std::int64_t, 2> begin{};
  std::array<std::int64_t, 2> end{};
  std::array<std::int64_t, 2> extents{};
  Owned<selvage_context> context;
  Owned<selvage_grid> grid;
  Owned<selvage_halo> halo;
};

TEST_P(CInterface, HalosFillTheGhostsOfTheFieldsThatAreNamed) {
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

TEST_P(CInterface, HalosAreStartedAndFinished) {
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

/// Three bytes, which no number has.
struct Colour {
  unsigned char red, green, blue;
};

TEST_P(CInterface, HalosMoveElementsOfAnySizeWithComponents) {
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

TEST_P(CInterface, HalosReduceGhostsAtTheirOwner) {
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

TEST_P(CInterface, GridsTellOfBoxesAndNeighbours) {
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
}

TEST_P(CInterface, GridsTakeBoxesOfTheCallers) {
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

/// Each rank owns five particles, and sends the first two to the next rank.
class CLists : public CInterface {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(CInterface::SetUp());
    ids.fill({1, 0});
    ranks.fill({(rank + 1) % size, (rank + 1) % size});
    selvage_list* made = nullptr;
    SELVAGE_OK(selvage_list_create(context.get(), owned, 2, ids.data(), ranks.data(), nullptr, &made));
    list.reset(made);
    ASSERT_EQ(selvage_list_ghosts(list.get()), 2);
  }
  [[nodiscard]] double value(int of_rank, int particle, int component) const {
    return 100.0 * of_rank + 10.0 * particle + component;
  }
  void fill_particles() {
    for (int p = 0; p < owned; ++p)
      for (int c = 0; c < components; ++c) values[place(p, c)] = value(rank, p, c);
    for (int p = owned; p < owned + 2; ++p)
      for (int c = 0; c < components; ++c) values[place(p, c)] = -1;
    values.put();
  }
  /// Components lie apart: all x, then all y.
  [[nodiscard]] static std::size_t place(int particle, int component) {
    return static_cast<std::size_t>(particle + component * (owned + 2));
  }
  void expect_ghosts() {
    values.get();
    const int before = (rank + size - 1) % size;
    for (int c = 0; c < components; ++c) {
      EXPECT_EQ(values[place(owned, c)], value(before, 1, c));
      EXPECT_EQ(values[place(owned + 1, c)], value(before, 0, c));
    }
  }

  static constexpr int owned = 5;
  static constexpr int components = 2;
  Array<std::int64_t> ids{GetParam(), 2};
  Array<int> ranks{GetParam(), 2};
  Array<double> values{GetParam(), components*(owned + 2)};
  selvage_particles particles{values.data(), owned + 2, components, 1, owned + 2};
  Owned<selvage_list> list;
};

TEST_P(CLists, AreGatheredAtOnceAndInTwoParts) {
  fill_particles();
  SELVAGE_OK(selvage_list_gather(list.get(), &particles, sizeof(double)));
  expect_ghosts();
  fill_particles();
  SELVAGE_OK(selvage_list_start_gather(list.get(), &particles, sizeof(double)));
  EXPECT_TRUE(
      fails(selvage_list_gather(list.get(), &particles, sizeof(double)), SELVAGE_USAGE, "finish it first"));
  SELVAGE_OK(selvage_list_finish(list.get()));
  expect_ghosts();
  EXPECT_TRUE(fails(selvage_list_finish(list.get()), SELVAGE_USAGE, "no operation of this list was started"));
  EXPECT_TRUE(fails(selvage_list_gather(list.get(), &particles, 3), SELVAGE_USAGE, "elements of 3 bytes"));
}

TEST_P(CLists, AddGhostsToTheirOwners) {
  for (const bool in_parts : {false, true}) {
    fill_particles();
    for (int c = 0; c < components; ++c) values[place(owned, c)] = values[place(owned + 1, c)] = 0.25;
    values.put();
    if (in_parts) {
      SELVAGE_OK(selvage_list_start_scatter_add(list.get(), &particles, SELVAGE_DOUBLE));
      SELVAGE_OK(selvage_list_finish(list.get()));
    } else {
      SELVAGE_OK(selvage_list_scatter_add(list.get(), &particles, SELVAGE_DOUBLE));
    }
    values.get();
    for (int p = 0; p < owned; ++p)
      for (int c = 0; c < components; ++c)
        EXPECT_EQ(values[place(p, c)], value(rank, p, c) + (p < 2 ? 0.25 : 0)) << "in parts: " << in_parts;
  }
}

TEST_P(CLists, AreRebuilt) {
  SELVAGE_OK(selvage_list_rebuild(list.get(), owned, 1, ids.data(), ranks.data()));
  EXPECT_EQ(selvage_list_ghosts(list.get()), 1);
  fill_particles();
  SELVAGE_OK(selvage_list_gather(list.get(), &particles, sizeof(double)));
  values.get();
  EXPECT_EQ(values[place(owned, 0)], value((rank + size - 1) % size, 1, 0));
  EXPECT_EQ(values[place(owned + 1, 0)], -1);
}

template <class T>
void expect_reduced(const selvage_context* context, selvage_memory memory, selvage_type type,
                    selvage_operation operation, T own, T expected) {
  Array<T> elements(memory, 3);
  elements.fill({own, own, own});
  selvage_allreduce* made = nullptr;
  SELVAGE_OK(selvage_allreduce_create(context, elements.data(), 3, type, operation, nullptr, &made));
  const Owned<selvage_allreduce> allreduce(made);
  SELVAGE_OK(selvage_allreduce_run(allreduce.get()));
  SELVAGE_OK(selvage_allreduce_check(allreduce.get()));
  elements.get();
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(elements[i], expected) << "type " << type << ", operation " << operation;
}

template <class T>
void expect_all_operations(const selvage_context* context, selvage_memory memory, selvage_type type, int rank,
                           int size) {
  int product = 1;
  for (int factor = 2; factor <= size; ++factor) product *= factor;
  const auto expect = [&](selvage_operation operation, int expected) {
    expect_reduced<T>(context, memory, type, operation, static_cast<T>(rank + 1), static_cast<T>(expected));
  };
  expect(SELVAGE_SUM, size * (size + 1) / 2);
  expect(SELVAGE_PRODUCT, product);
  expect(SELVAGE_MIN, 1);
  expect(SELVAGE_MAX, size);
}

TEST_P(CInterface, AllreduceKnowsAllTypesAndOperations) {
  expect_all_operations<float>(context.get(), GetParam(), SELVAGE_FLOAT, rank, size);
  expect_all_operations<double>(context.get(), GetParam(), SELVAGE_DOUBLE, rank, size);
  expect_all_operations<std::int32_t>(context.get(), GetParam(), SELVAGE_INT32, rank, size);
  expect_all_operations<std::int64_t>(context.get(), GetParam(), SELVAGE_INT64, rank, size);
  expect_reduced<double>(context.get(), GetParam(), SELVAGE_DOUBLE, SELVAGE_AVERAGE, 2.5, 2.5);
}

TEST_P(CInterface, AllreduceTakesOptionsAndTwoParts) {
  Array<double> elements(GetParam(), 1);
  elements.fill({static_cast<double>(rank)});
  const selvage_allreduce_options options{.algorithm = "mpi", .allow_reordering = 0, .max_blocks = 0};
  selvage_allreduce* made = nullptr;
  SELVAGE_OK(selvage_allreduce_create(context.get(), elements.data(), 1, SELVAGE_DOUBLE, SELVAGE_SUM,
                                      &options, &made));
  const Owned<selvage_allreduce> allreduce(made);
  EXPECT_NE(std::string(selvage_allreduce_explain(allreduce.get())).find("mpi"), std::string::npos);
  SELVAGE_OK(selvage_allreduce_start(allreduce.get()));
  EXPECT_TRUE(fails(selvage_allreduce_start(allreduce.get()), SELVAGE_USAGE, "finish it first"));
  SELVAGE_OK(selvage_allreduce_finish(allreduce.get()));
  elements.get();
  EXPECT_EQ(elements[0], size * (size - 1) / 2);
  EXPECT_TRUE(fails(selvage_allreduce_finish(allreduce.get()), SELVAGE_USAGE,
                    "no run of this allreduce was started"));
  const selvage_allreduce_options unknown{.algorithm = "guess", .allow_reordering = 0, .max_blocks = 0};
  made = nullptr;
  EXPECT_TRUE(fails(selvage_allreduce_create(context.get(), elements.data(), 1, SELVAGE_DOUBLE, SELVAGE_SUM,
                                             &unknown, &made),
                    SELVAGE_INPUT, "guess"));
  EXPECT_EQ(made, nullptr);
}

TEST_P(CInterface, SaysWhatIsWrongWithACall) {
  ASSERT_NO_FATAL_FAILURE(make_grid());
  EXPECT_TRUE(fails(selvage_halo_exchange(nullptr, 0, nullptr), SELVAGE_USAGE, "the halo is NULL"));
  EXPECT_TRUE(fails(selvage_list_finish(nullptr), SELVAGE_USAGE, "the list is NULL"));
  EXPECT_STREQ(selvage_halo_explain(nullptr), "");
  selvage_grid_options four{};
  four.axes = 4;
  selvage_grid* no_grid = nullptr;
  EXPECT_TRUE(fails(selvage_grid_create(context.get(), &four, &no_grid), SELVAGE_USAGE, "a grid of 4 axes"));

  Array<double> u(GetParam(), elements());
  const selvage_halo_options options = halo_options();
  selvage_halo* made = nullptr;
  const auto create = [&](const selvage_field& field, const selvage_halo_options& with) {
    return selvage_halo_create(grid.get(), &with, 1, &field, &made);
  };
  selvage_field field = field_of(u);
  field.data = nullptr;
  EXPECT_TRUE(fails(create(field, options), SELVAGE_USAGE, "field 0 has no data"));
  field = field_of(u);
  field.axes = 1;
  EXPECT_TRUE(fails(create(field, options), SELVAGE_USAGE, "field 0 has 1 axes; the grid has 2"));
  field = field_of(u);
  field.extents[0] += 1;
  EXPECT_TRUE(fails(create(field, options), SELVAGE_USAGE, "field 0"));
  selvage_halo_options by_pigeon = options;
  by_pigeon.transport = "pigeon";
  EXPECT_TRUE(fails(create(field_of(u), by_pigeon), SELVAGE_INPUT, "pigeon"));
  EXPECT_EQ(made, nullptr);
  ASSERT_NO_FATAL_FAILURE(make_halo({field_of(u)}));
  const int third = 2;
  EXPECT_TRUE(
      fails(selvage_halo_exchange(halo.get(), 1, &third), SELVAGE_USAGE, "field 2 of a halo of 1 fields"));
}

TEST_P(CInterface, TellsAllRanksWhatIsWrongOnOne) {
  ASSERT_NO_FATAL_FAILURE(make_grid());
  const int last = size - 1;
  Array<double> u(GetParam(), elements());
  selvage_field field = field_of(u);
  if (rank == last) field.data = nullptr;
  const selvage_halo_options options = halo_options();
  selvage_halo* no_halo = nullptr;
  EXPECT_TRUE(fails(selvage_halo_create(grid.get(), &options, 1, &field, &no_halo), SELVAGE_USAGE,
                    "field 0 has no data"));
  selvage_allreduce* no_allreduce = nullptr;
  EXPECT_TRUE(fails(selvage_allreduce_create(context.get(), rank == last ? nullptr : u.data(), 1,
                                             SELVAGE_DOUBLE, SELVAGE_SUM, nullptr, &no_allreduce),
                    SELVAGE_USAGE, "the elements' data is NULL"));
  selvage_list* no_list = nullptr;
  EXPECT_TRUE(
      fails(selvage_list_create(context.get(), 1, rank == last ? -1 : 0, nullptr, nullptr, nullptr, &no_list),
            SELVAGE_USAGE, "a list of -1 entries"));
  selvage_grid_options cells{};
  cells.axes = rank == last ? 0 : 1;
  cells.cells[0] = 100;
  selvage_grid* no_grid = nullptr;
  EXPECT_TRUE(fails(selvage_grid_create(context.get(), &cells, &no_grid), SELVAGE_USAGE, "a grid of 0 axes"));
  EXPECT_EQ(no_grid, nullptr);
}

std::vector<selvage_memory> memories() {
  if (has_device_memory) return {SELVAGE_HOST, SELVAGE_DEVICE};
  return {SELVAGE_HOST};
}
std::string name_of(const testing::TestParamInfo<selvage_memory>& memory) {
  return memory.param == SELVAGE_HOST ? "host" : "device";
}
INSTANTIATE_TEST_SUITE_P(Memories, CInterface, testing::ValuesIn(memories()), name_of);
INSTANTIATE_TEST_SUITE_P(Memories, CLists, testing::ValuesIn(memories()), name_of);

TEST(CContexts, GiveMemoryThatOtherRanksReach) {
  selvage_context* made = nullptr;
  SELVAGE_OK(selvage_context_create_f(MPI_Comm_c2f(MPI_COMM_WORLD), SELVAGE_HOST, nullptr, &made));
  const Owned<selvage_context> context(made);
  void* memory = nullptr;
  SELVAGE_OK(selvage_allocate(context.get(), 3 * sizeof(double), &memory));
  auto* const elements = static_cast<double*>(memory);
  EXPECT_EQ(elements[2], 0) << "zeroed";
  elements[2] = 1;
  selvage_allreduce* sum = nullptr;
  SELVAGE_OK(selvage_allreduce_create(context.get(), memory, 3, SELVAGE_DOUBLE, SELVAGE_SUM, nullptr, &sum));
  SELVAGE_OK(selvage_allreduce_run(sum));
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT_EQ(elements[2], size);
  selvage_allreduce_destroy(sum);
  SELVAGE_OK(selvage_deallocate(context.get(), memory));
}

TEST(CContexts, RefuseWhatTheyCanNotServe) {
  selvage_context* made = nullptr;
  EXPECT_TRUE(fails(selvage_context_create(MPI_COMM_NULL, SELVAGE_HOST, nullptr, &made), SELVAGE_USAGE,
                    "MPI_COMM_NULL"));
  int stream = 0;
  EXPECT_TRUE(fails(selvage_context_create(MPI_COMM_WORLD, SELVAGE_HOST, &stream, &made), SELVAGE_USAGE,
                    "host memory"));
  if (!has_device_memory) {
    EXPECT_TRUE(fails(selvage_context_create(MPI_COMM_WORLD, SELVAGE_DEVICE, nullptr, &made),
                      SELVAGE_UNSUPPORTED, "built without GPUs"));
  }
  EXPECT_EQ(made, nullptr);
  selvage_context_destroy(nullptr);
}

}  // namespace
}  // namespace selvage::test
