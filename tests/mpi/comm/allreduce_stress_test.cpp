#include "allreduce_cases.hpp"
#include "rounds.hpp"
#include "space.hpp"

#include <selvage/comm/allreduce.hpp>
#include <selvage/comm/detail/signal.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>
#include <sched.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace selvage::test {
namespace {

/// Keeps the instance busy, so that this rank's kernels come late.
struct Delay {
  std::uint64_t nanoseconds;
  KOKKOS_FUNCTION void operator()(int) const {
    const std::uint64_t begin = detail::clock_ns();
    while (detail::clock_ns() - begin < nanoseconds) {
    }
  }
};

/// One size, with values that change from round to round: rank r holds (r + 1) (round % 1000 + index).
class Stressed {
 public:
  Stressed(const Context& context, std::int64_t count, const AllreduceOptions& options)
      : ranks_(context.size()),
        rank_(context.rank()),
        view_("elements", static_cast<std::size_t>(count)),
        wrong_("wrong"),
        allreduce_(Space(), context, view_, options) {}

  void run(int round) {
    const double factor = rank_ + 1;
    const double first = round % 1000;
    const auto view = view_;
    Kokkos::parallel_for(
        "test::fill", Kokkos::RangePolicy<Space>(Space(), 0, view.extent_int(0)),
        KOKKOS_LAMBDA(int i) { view(i) = factor * (first + i); });
    allreduce_.run(Space());
    const double sum = ranks_ * (ranks_ + 1) / 2.0;
    const auto wrong = wrong_;
    Kokkos::parallel_for(
        "test::check", Kokkos::RangePolicy<Space>(Space(), 0, view.extent_int(0)), KOKKOS_LAMBDA(int i) {
          if (view(i) != sum * (first + i)) Kokkos::atomic_inc(&wrong());
        });
  }
  [[nodiscard]] int wrong() const {
    int result = 0;
    Kokkos::deep_copy(result, wrong_);
    return result;
  }
  void check() const { allreduce_.check(); }

 private:
  int ranks_;
  int rank_;
  Kokkos::View<double*, Space> view_;
  Kokkos::View<int, Space> wrong_;
  Allreduce allreduce_;
};

using Algorithm = AllreduceAlgorithm;

std::vector<AllreduceCase> cases() {
  std::vector<AllreduceCase> all;
  for (const auto algorithm : {Algorithm::one_shot_ll128, Algorithm::two_shot_ll128, Algorithm::two_shot_push,
                               Algorithm::two_shot_copy_engine, Algorithm::copy_engine,
                               Algorithm::recursive_doubling_ll, Algorithm::multi_ring})
    all.push_back({std::string(to_string(algorithm)),
                   {.algorithm = algorithm, .max_blocks = 4, .allow_reordering = true}});
  for (const auto algorithm : {Algorithm::one_shot, Algorithm::two_shot, Algorithm::shared_buffer_tree,
                               Algorithm::hierarchical, Algorithm::mpi, Algorithm::binomial_tree,
                               Algorithm::recursive_doubling, Algorithm::ring, Algorithm::segmented_ring}) {
    all.push_back({std::string(to_string(algorithm)), {.algorithm = algorithm, .allow_reordering = true}});
  }
  all.push_back(
      {"pipelined", {.algorithm = Algorithm::pipelined, .allow_reordering = true, .group_size = 2}});
  all.push_back({"hierarchical_two_shot_two_shot",
                 {.algorithm = Algorithm::hierarchical,
                  .max_blocks = 4,
                  .allow_reordering = true,
                  .outer = Algorithm::two_shot,
                  .group_size = 2}});
  all.push_back({"hierarchical_binomial_tree_binomial_tree",
                 {.algorithm = Algorithm::hierarchical,
                  .allow_reordering = true,
                  .inner = Algorithm::binomial_tree,
                  .outer = Algorithm::binomial_tree}});
  return all;
}

/// Messages take ten times as long.
bool by_messages(const AllreduceOptions& options) {
  return !this_job().is_on_one_host() || options.algorithm == Algorithm::mpi ||
         options.algorithm == Algorithm::recursive_doubling || options.algorithm == Algorithm::ring ||
         options.algorithm == Algorithm::segmented_ring || options.algorithm == Algorithm::pipelined;
}

class AllreduceStress : public testing::TestWithParam<AllreduceCase> {};

INSTANTIATE_TEST_SUITE_P(EveryAlgorithm, AllreduceStress, testing::ValuesIn(running(cases())),
                         [](const auto& tested) { return tested.param.name; });

TEST(AllreduceStressCases, AreRefusedWhereTheyDontRun) {
  // On GPUs of a host, `pipelined` needs groups of two.
  expect_others_refused(
      cases(),
      {.on_one_host = 11, .on_several_hosts = 8, .on_gpus_of_one_host = 12, .on_gpus_of_several_hosts = 4});
}

/// Back to back, of sizes that take turns, with ranks that are late now and then.
TEST_P(AllreduceStress, StaysExactWhoeverIsLate) {
  const Context context(MPI_COMM_WORLD);
  std::vector<std::unique_ptr<Stressed>> sizes;
  // The last has several chunks per block on GPUs.
  for (const std::int64_t count : {1, 33, 1000, on_host ? 4099 : 400'001})
    sizes.push_back(std::make_unique<Stressed>(context, count, GetParam().options));
  const int rounds = by_messages(GetParam().options) ? stress_rounds(10'000) : stress_rounds();
  std::minstd_rand dice(static_cast<unsigned>(context.rank() + 1));
  for (int round = 0; round < rounds; ++round) {
    if (dice() % 64 == 0) sched_yield();
    if (dice() % 128 == 0) {
      const std::uint64_t nanoseconds = dice() % 20'000;
      Kokkos::parallel_for("test::delay", Kokkos::RangePolicy<Space>(Space(), 0, 1), Delay{nanoseconds});
    }
    sizes[static_cast<std::size_t>(round) % sizes.size()]->run(round);
  }
  Space().fence();
  for (const auto& size : sizes) {
    EXPECT_NO_THROW(size->check());
    EXPECT_EQ(size->wrong(), 0);
  }
}

}  // namespace
}  // namespace selvage::test
