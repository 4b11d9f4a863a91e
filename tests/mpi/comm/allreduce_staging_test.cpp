#include "collectives/collective_plan.hpp"
#include "deferred_executor.hpp"

#include <selvage/comm/context.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace selvage::detail {
namespace {

/// Elements said to lie on a device, whose instance does nothing before it must.
class StagedAllreduce : public testing::TestWithParam<AllreduceAlgorithm> {
 protected:
  void expect_sums(std::int64_t count, int rounds) {
    std::vector<std::int64_t> elements(static_cast<std::size_t>(count));
    CollectivePlan plan(context_.state(), executor_, {.algorithm = GetParam(), .allow_reordering = true},
                        {.label = "gradients",
                         .data = reinterpret_cast<std::byte*>(elements.data()),
                         .count = count,
                         .type = ElementType::int64,
                         .memory = MemoryKind::device});
    std::vector<std::int64_t> wrong;  // by round
    for (int round = 0; round < rounds; ++round) {
      executor_.enqueue([&elements, round, this] {
        for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = value(context_.rank(), i, round);
      });
      plan.finish(executor_, plan.start(executor_));
      executor_.enqueue([&elements, &wrong, round, this] {
        std::int64_t count_wrong = 0;
        for (std::size_t i = 0; i < elements.size(); ++i) {
          std::int64_t sum = 0;
          for (int rank = 0; rank < context_.size(); ++rank) sum += value(rank, i, round);
          if (elements[i] != sum) ++count_wrong;
        }
        wrong.push_back(count_wrong);
      });
    }
    executor_.fence();
    EXPECT_EQ(wrong, std::vector<std::int64_t>(static_cast<std::size_t>(rounds), 0)) << plan.explain();
  }

 private:
  static std::int64_t value(int rank, std::size_t index, int round) {
    return (rank + 1) * (round * 1'000'003LL + static_cast<std::int64_t>(index));
  }

  const Context context_{MPI_COMM_WORLD};
  DeferredExecutor executor_;
};

INSTANTIATE_TEST_SUITE_P(ByMessages, StagedAllreduce,
                         testing::Values(AllreduceAlgorithm::mpi, AllreduceAlgorithm::recursive_doubling,
                                         AllreduceAlgorithm::ring, AllreduceAlgorithm::segmented_ring),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

TEST_P(StagedAllreduce, KeepsReductionsInTheOrderOfTheQueue) {
  for (const std::int64_t count : {1, 1000}) expect_sums(count, 50);
}
/// More chunks than are under way at a time, so that their host memory is used again.
TEST_P(StagedAllreduce, UsesHostMemoryAgain) {
  expect_sums(1'000'003, 2);
}

}  // namespace
}  // namespace selvage::detail
