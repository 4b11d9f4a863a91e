#include "common/rank_sums.hpp"

#include <selvage/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

namespace selvage::app {
namespace {

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

TEST(RankSums, GatherKeepsTheOrderOfRanks) {
  const double rank = rank_of(MPI_COMM_WORLD);
  const auto all = gather_everywhere(MPI_COMM_WORLD, "test", std::array{rank, rank + 0.5});
  ASSERT_EQ(all.size(), 2u * static_cast<std::size_t>(size_of(MPI_COMM_WORLD)));
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<double>(i) / 2);
}

TEST(RankSums, AddsInTheOrderOfRanks) {
  const int ranks = size_of(MPI_COMM_WORLD);
  double expected = 0;
  for (int rank = 0; rank < ranks; ++rank) expected += 1.0 / (3 + rank);
  EXPECT_EQ(sum_over_ranks(MPI_COMM_WORLD, "test", 1.0 / (3 + rank_of(MPI_COMM_WORLD))), expected);
}

TEST(RankSums, AddsCountsPlaceByPlace) {
  const std::int64_t rank = rank_of(MPI_COMM_WORLD);
  const std::int64_t ranks = size_of(MPI_COMM_WORLD);
  const auto sums = sum_counts(MPI_COMM_WORLD, "test", std::array<std::int64_t, 2>{rank, 1});
  EXPECT_EQ(sums, (std::vector<std::int64_t>{ranks * (ranks - 1) / 2, ranks}));
}

TEST(RankSums, FindsTheLargest) {
  EXPECT_EQ(max_over_ranks(MPI_COMM_WORLD, "test", -rank_of(MPI_COMM_WORLD)), 0);
}

TEST(RankSums, DoesNotWaitForEver) {
  if (size_of(MPI_COMM_WORLD) < 3) GTEST_SKIP() << "needs ranks that wait and one that does not come";
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  setenv("SELVAGE_TIMEOUT_MS", "300", 1);
  const int late = 2;
  if (rank_of(comm) != late) {
    try {
      static_cast<void>(sum_over_ranks(comm, "the residual at step 5", 1));
      ADD_FAILURE() << "nobody noticed";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::timeout);
      EXPECT_EQ(error.message(), "the residual at step 5: waited 300 ms for all ranks");
    }
  }
  unsetenv("SELVAGE_TIMEOUT_MS");
  MPI_Barrier(MPI_COMM_WORLD);
  // `comm` still holds what the others started on it, so it is left to MPI_Finalize.
}

}  // namespace
}  // namespace selvage::app
