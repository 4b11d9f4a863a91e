// What is done in every step allocates nothing on the host.
#include <selvage/comm/allreduce.hpp>
#include <selvage/comm/gradient_buckets.hpp>
#include <selvage/comm/halo_exchange.hpp>
#include <selvage/comm/list_halo.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace {

/// By this thread, which calls the library; MPI's own allocations go past operator new.
thread_local int allocations = 0;

void* counted_malloc(std::size_t bytes) {
  ++allocations;
  void* data = std::malloc(bytes == 0 ? 1 : bytes);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}

}  // namespace

void* operator new(std::size_t bytes) {
  return counted_malloc(bytes);
}
void* operator new[](std::size_t bytes) {
  return counted_malloc(bytes);
}
/// What std::stable_sort asks for.
void* operator new(std::size_t bytes, const std::nothrow_t& /*unused*/) noexcept {
  ++allocations;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void operator delete(void* data) noexcept {
  std::free(data);
}
void operator delete[](void* data) noexcept {
  std::free(data);
}
void operator delete(void* data, std::size_t) noexcept {
  std::free(data);
}
void operator delete[](void* data, std::size_t) noexcept {
  std::free(data);
}

namespace selvage::test {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

/// After some rounds, in which what is made at first use is made.
int allocations_of(const std::function<void()>& step) {
  for (int round = 0; round < 4; ++round) step();
  const int before = allocations;
  for (int round = 0; round < 4; ++round) step();
  return allocations - before;
}

/// Where threads move elements, they do it in kernels, for whose labels Kokkos itself allocates.
bool has_kernels() {
  return std::string(Space::name()) != "Serial";
}

TEST(Allocations, AreCounted) {
  std::vector<int> values;
  EXPECT_GE(allocations_of([&] { values = std::vector<int>(100); }), 4);
}

class AllocationsOf : public testing::TestWithParam<Transport> {
 protected:
  void SetUp() override {
    if (has_kernels()) GTEST_SKIP() << "Kokkos allocates for kernels";
  }

  Context context_{MPI_COMM_WORLD};
  Grid<2> grid_{context_, {.cells = {24, 24}, .periodic = {true, false}}};
  Kokkos::View<double**> u_ = grid_.allocate<double>("u", 1);
  Kokkos::View<float**> v_ = grid_.allocate<float>("v", 1);
};

TEST_P(AllocationsOf, Exchanges) {
  HaloExchange halo(Space(), grid_, {.width = 1, .transport = GetParam()}, u_, v_);
  const Space space;
  EXPECT_EQ(allocations_of([&] { halo.exchange(space, u_, v_); }), 0);
  EXPECT_EQ(allocations_of([&] { halo.exchange(space, u_); }), 0);
  EXPECT_EQ(allocations_of([&] { halo.exchange(space, v_, u_); }), 0);
  EXPECT_EQ(allocations_of([&] { halo.finish(space, halo.start(space, v_)); }), 0);
}

TEST_P(AllocationsOf, ReductionsToOwners) {
  HaloExchange halo(Space(), grid_, {.width = 1, .transport = GetParam()}, u_);
  const Space space;
  EXPECT_EQ(allocations_of([&] { halo.reduce(space, ReduceOperation::sum, u_); }), 0);
}

INSTANTIATE_TEST_SUITE_P(, AllocationsOf, testing::Values(Transport::peer, Transport::mpi_staged),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

TEST(Allocations, OfAllreduces) {
  const Context context(MPI_COMM_WORLD);
  const Space space;
  for (const std::size_t count : {1UL, 1000UL, 300'000UL}) {
    const Kokkos::View<float*, Space> values("values", count);
    for (const auto algorithm :
         {AllreduceAlgorithm::one_shot, AllreduceAlgorithm::two_shot, AllreduceAlgorithm::mpi}) {
      Allreduce sum(space, context, values, {.algorithm = algorithm});
      EXPECT_EQ(allocations_of([&] { sum.run(space); }), 0) << count << " by " << to_string(algorithm);
      EXPECT_EQ(allocations_of([&] { sum.finish(space, sum.start(space)); }), 0)
          << count << " by " << to_string(algorithm);
    }
  }
}

TEST(Allocations, OfGradientBuckets) {
  if (has_kernels()) GTEST_SKIP() << "Kokkos allocates for kernels";
  const Context context(MPI_COMM_WORLD);
  const Space space;
  std::vector<Kokkos::View<float*, Space>> gradients;
  for (int i = 0; i < 6; ++i) gradients.emplace_back("gradient", 500 * (i + 1));
  GradientBuckets buckets(space, context, {.bucket_bytes = 8000}, gradients);
  const auto step = [&] {
    for (int i = 5; i >= 0; --i) buckets.ready(space, i);
    buckets.finish(space);
  };
  EXPECT_EQ(allocations_of(step), 0);
}

}  // namespace
}  // namespace selvage::test
