#include "c_interface.hpp"

#include <selvage/comm/half.hpp>
#include <selvage/selvage.h>

#include <Kokkos_Complex.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <string>
#include <type_traits>

namespace selvage::test {
namespace {

class CCalls : public CInterface {};

/// 16-bit numbers are structs of their bits.
template <class T>
T element_of(int value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>)
    return from_float<T>(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

template <class T>
bool are_equal(T a, T b) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>)
    return a.bits == b.bits;
  else
    return a == b;
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
    EXPECT_TRUE(are_equal(elements[i], expected)) << "type " << type << ", operation " << operation;
}

template <class T>
void expect_all_operations(const selvage_context* context, selvage_memory memory, selvage_type type, int rank,
                           int size) {
  int product = 1;
  for (int factor = 2; factor <= size; ++factor) product *= factor;
  const auto expect = [&](selvage_operation operation, int expected) {
    expect_reduced<T>(context, memory, type, operation, element_of<T>(rank + 1), element_of<T>(expected));
  };
  expect(SELVAGE_SUM, size * (size + 1) / 2);
  expect(SELVAGE_PRODUCT, product);
  expect(SELVAGE_MIN, 1);
  expect(SELVAGE_MAX, size);
}

template <class Real>
void expect_complex(const selvage_context* context, selvage_memory memory, selvage_type type, int rank,
                    int size) {
  const auto real = static_cast<Real>(size * (size + 1) / 2);
  const Kokkos::complex<Real> own(static_cast<Real>(rank + 1), -2);
  expect_reduced(context, memory, type, SELVAGE_SUM, own,
                 Kokkos::complex<Real>(real, static_cast<Real>(-2 * size)));
}

TEST_P(CCalls, AllreduceKnowsAllTypesAndOperations) {
  expect_all_operations<float>(context.get(), GetParam(), SELVAGE_FLOAT, rank, size);
  expect_all_operations<double>(context.get(), GetParam(), SELVAGE_DOUBLE, rank, size);
  expect_all_operations<std::int32_t>(context.get(), GetParam(), SELVAGE_INT32, rank, size);
  expect_all_operations<std::int64_t>(context.get(), GetParam(), SELVAGE_INT64, rank, size);
  expect_all_operations<std::int8_t>(context.get(), GetParam(), SELVAGE_INT8, rank, size);
  expect_all_operations<std::int16_t>(context.get(), GetParam(), SELVAGE_INT16, rank, size);
  expect_all_operations<std::uint8_t>(context.get(), GetParam(), SELVAGE_UINT8, rank, size);
  expect_all_operations<std::uint16_t>(context.get(), GetParam(), SELVAGE_UINT16, rank, size);
  expect_all_operations<std::uint32_t>(context.get(), GetParam(), SELVAGE_UINT32, rank, size);
  expect_all_operations<std::uint64_t>(context.get(), GetParam(), SELVAGE_UINT64, rank, size);
  expect_all_operations<Half>(context.get(), GetParam(), SELVAGE_HALF, rank, size);
  expect_all_operations<Bfloat16>(context.get(), GetParam(), SELVAGE_BFLOAT16, rank, size);
  expect_complex<float>(context.get(), GetParam(), SELVAGE_COMPLEX_FLOAT, rank, size);
  expect_complex<double>(context.get(), GetParam(), SELVAGE_COMPLEX_DOUBLE, rank, size);
  expect_reduced<double>(context.get(), GetParam(), SELVAGE_DOUBLE, SELVAGE_AVERAGE, 2.5, 2.5);
  // Which of two is the larger one depends on the sign.
  const bool is_last = rank == size - 1;
  expect_reduced<std::int8_t>(context.get(), GetParam(), SELVAGE_INT8, SELVAGE_MAX, is_last ? 1 : -1, 1);
  expect_reduced<std::uint8_t>(context.get(), GetParam(), SELVAGE_UINT8, SELVAGE_MAX, is_last ? 1 : 255,
                               size == 1 ? 1 : 255);
}

TEST_P(CCalls, HalosAndListsSayWhichTypesTheyCombine) {
  ASSERT_NO_FATAL_FAILURE(make_grid());
  Array<float> u(GetParam(), elements());
  ASSERT_NO_FATAL_FAILURE(make_halo({field_of(u)}));
  EXPECT_TRUE(fails(selvage_halo_reduce(halo.get(), 0, SELVAGE_UINT32, SELVAGE_SUM), SELVAGE_USAGE,
                    "SELVAGE_INT64; this is selvage_type 8"));
}

TEST_P(CCalls, AllreduceTakesOptionsAndTwoParts) {
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

TEST_P(CCalls, SaysWhatIsWrongWithACall) {
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

TEST_P(CCalls, TellsAllRanksWhatIsWrongOnOne) {
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

INSTANTIATE_TEST_SUITE_P(Memories, CCalls, testing::ValuesIn(memories()), name_of);

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
