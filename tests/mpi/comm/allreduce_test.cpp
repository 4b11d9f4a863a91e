#include "allreduce_cases.hpp"
#include "allreduce_elements.hpp"
#include "collectives/allreduce_registry.hpp"
#include "thrown.hpp"

#include <selvage/comm/allreduce.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace selvage::test {
namespace {

using Algorithm = AllreduceAlgorithm;
using Operation = ReduceOperation;

std::vector<AllreduceCase> cases() {
  std::vector<AllreduceCase> all{{"chosen", {}}, {"chosen_shared", {}, true}};
  for (const detail::AllreduceEntry& entry : detail::allreduce_algorithms())
    all.push_back({std::string(to_string(entry.algorithm)),
                   {.algorithm = entry.algorithm, .allow_reordering = !entry.is_ordered({})}});
  for (const auto algorithm : {Algorithm::one_shot, Algorithm::two_shot})
    all.push_back({fmt::format("{}_shared", to_string(algorithm)), {.algorithm = algorithm}, true});
  for (const auto inner : {Algorithm::shared_buffer_tree, Algorithm::binomial_tree}) {
    for (const auto outer : {Algorithm::shared_buffer_tree, Algorithm::binomial_tree,
                             Algorithm::recursive_doubling, Algorithm::ring, Algorithm::mpi})
      all.push_back(
          {fmt::format("hierarchical_{}_{}", to_string(inner), to_string(outer)),
           {.algorithm = Algorithm::hierarchical, .allow_reordering = true, .inner = inner, .outer = outer}});
  }
  for (const auto outer : {Algorithm::mpi, Algorithm::ring, Algorithm::nccl})
    all.push_back({fmt::format("hierarchical_two_shot_{}", to_string(outer)),
                   {.algorithm = Algorithm::hierarchical,
                    .allow_reordering = true,
                    .inner = Algorithm::two_shot,
                    .outer = outer}});
  for (const int size : {1, 2})
    all.push_back({fmt::format("hierarchical_two_shot_two_shot_groups_of_{}", size),
                   {.algorithm = Algorithm::hierarchical,
                    .allow_reordering = true,
                    .outer = Algorithm::two_shot,
                    .group_size = size}});
  for (const int size : {1, 2, 3})
    all.push_back({fmt::format("pipelined_groups_of_{}", size),
                   {.algorithm = Algorithm::pipelined, .allow_reordering = true, .group_size = size}});
  return all;
}

class AllreduceConformance : public testing::TestWithParam<AllreduceCase> {
 protected:
  AllreduceConformance() : context_(MPI_COMM_WORLD) {}

  void SetUp() override {
    if (must_run(GetParam())) return;
    if (const auto refusal = refusal_of(context_, GetParam())) {
      ASSERT_EQ(to_string(refusal->kind()), to_string(ErrorKind::unsupported)) << refusal->message();
      GTEST_SKIP() << refusal->message();
    }
  }
  [[nodiscard]] AllreduceOptions options(Operation operation) const {
    AllreduceOptions options = GetParam().options;
    options.operation = operation;
    return options;
  }
  [[nodiscard]] static bool is_ordered() { return !GetParam().options.allow_reordering; }

  template <class T>
  void expect_right(Operation operation, std::int64_t count, std::int64_t offset = 0, int rounds = 3,
                    int multiprocessors = 0) {
    Elements<T> elements(context_, count, offset, GetParam().is_shared);
    AllreduceOptions wanted = options(operation);
    wanted.max_blocks = multiprocessors;
    Allreduce allreduce(Space(), context_, elements.view, wanted);
    std::vector<std::uint64_t> hashes;
    // The first round comes again at the end, and gives the same bits again.
    for (int i = 0; i <= rounds; ++i) {
      const int round = i % rounds;
      elements.fill(context_.rank(), round);
      allreduce.run(Space());
      ASSERT_EQ(elements.first_wrong(operation, context_.size(), round, is_ordered()), -1)
          << to_string(operation) << " of " << count << " elements of " << sizeof(T) << " bytes, offset "
          << offset << ", round " << round << "\n"
          << allreduce.explain();
      hashes.push_back(elements.hash());
      allreduce.check();
    }
    EXPECT_EQ(hashes.front(), hashes.back());
    EXPECT_TRUE(elements.same_on_all_ranks()) << allreduce.explain();
  }

  /// How elements are cut doesn't depend on what is done with them: every size with sums, some with all other operations.
  template <class T>
  void expect_right_for_all() {
    const std::vector<std::int64_t> sizes{0, 1, 2, 3, 17, 128, 1000, 4099};
    for (const Operation operation :
         {Operation::sum, Operation::average, Operation::min, Operation::max, Operation::product}) {
      const bool all = operation == Operation::sum || std::getenv("TEST_EVERY_SIZE") != nullptr;
      for (const std::int64_t count : all ? sizes : std::vector<std::int64_t>{17, 1000})
        expect_right<T>(operation, count);
      expect_right<T>(operation, 1001, 1);
    }
    // More than the slots of any algorithm hold.
    expect_right<T>(Operation::sum, 280'001, 3, 1);
    // More than its blocks have slots for.
    constexpr std::int64_t megabyte = (1 << 20) / sizeof(T);
    if (!on_host) expect_right<T>(Operation::sum, megabyte + 3, 0, 2, 1);
  }

  const Context context_;
};

INSTANTIATE_TEST_SUITE_P(EveryAlgorithm, AllreduceConformance, testing::ValuesIn(running(cases())),
                         [](const auto& tested) { return tested.param.name; });

TEST(AllreduceCases, AreRefusedWhereTheyDontRun) {
  expect_others_refused(
      cases(),
      {.on_one_host = 27, .on_several_hosts = 22, .on_gpus_of_one_host = 16, .on_gpus_of_several_hosts = 6});
}

TEST_P(AllreduceConformance, OfDoubles) {
  expect_right_for_all<double>();
}
TEST_P(AllreduceConformance, OfFloats) {
  expect_right_for_all<float>();
}
TEST_P(AllreduceConformance, OfHalves) {
  expect_right_for_all<Half>();
}
TEST_P(AllreduceConformance, OfBfloat16) {
  expect_right_for_all<Bfloat16>();
}
TEST_P(AllreduceConformance, OfInt32) {
  expect_right_for_all<std::int32_t>();
}
TEST_P(AllreduceConformance, OfInt64) {
  expect_right_for_all<std::int64_t>();
}

/// Unsigned and short ones: both ends of their range, sums that wrap, averages that don't where 32 bits hold the sum.
TEST_P(AllreduceConformance, OfOtherIntegers) {
  const auto expect_right_for_some = [this]<class... T>(std::type_identity<T>...) {
    for (const Operation operation :
         {Operation::sum, Operation::average, Operation::min, Operation::max, Operation::product}) {
      (expect_right<T>(operation, 1003, 1, 1), ...);
    }
    (expect_right<T>(Operation::sum, 5, 0, 1), ...);
  };
  expect_right_for_some(std::type_identity<std::uint32_t>(), std::type_identity<std::uint64_t>(),
                        std::type_identity<std::int16_t>(), std::type_identity<std::uint16_t>(),
                        std::type_identity<std::int8_t>(), std::type_identity<std::uint8_t>());
  expect_right<std::uint8_t>(Operation::max, 700'001, 3, 1);
}

/// Back to back, of different sizes, one started before the other is finished.
TEST_P(AllreduceConformance, OverlapsWithAnother) {
  Elements<float> small(context_, 33, 0, GetParam().is_shared);
  Elements<double> large(context_, 50'003, 0, GetParam().is_shared);
  Allreduce first(Space(), context_, small.view, options(Operation::sum));
  Allreduce second(Space(), context_, large.view, options(Operation::max));
  for (int round = 0; round < 20; ++round) {
    small.fill(context_.rank(), round);
    large.fill(context_.rank(), round);
    auto pending_second = second.start(Space());
    auto pending_first = first.start(Space());
    second.finish(Space(), std::move(pending_second));
    first.finish(Space(), std::move(pending_first));
    ASSERT_EQ(small.first_wrong(Operation::sum, context_.size(), round, is_ordered()), -1) << round;
    ASSERT_EQ(large.first_wrong(Operation::max, context_.size(), round, is_ordered()), -1) << round;
  }
}

/// More chunks than any algorithm has under way at a time.
TEST_P(AllreduceConformance, OfManyChunks) {
  expect_right<std::int64_t>(Operation::sum, 700'001, 0, 1);
}

}  // namespace
}  // namespace selvage::test
