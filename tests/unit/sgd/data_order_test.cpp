#include "sgd/io/data_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace selvage::sgd {
namespace {

TEST(DataOrder, AnEpochMeetsEverySampleOnce) {
  std::vector<std::int64_t> order = order_of_epoch(1437, 3, 5);
  std::ranges::sort(order);
  std::vector<std::int64_t> all(1437);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(order, all);
}

TEST(DataOrder, SeedAndEpochDecideAlone) {
  EXPECT_EQ(order_of_epoch(100, 3, 5), order_of_epoch(100, 3, 5));
  EXPECT_NE(order_of_epoch(100, 3, 5), order_of_epoch(100, 3, 6));
  EXPECT_NE(order_of_epoch(100, 3, 5), order_of_epoch(100, 4, 5));
}

TEST(DataOrder, EveryPlaceIsAsLikelyForASample) {
  std::vector<int> places(4, 0);
  constexpr int epochs = 4000;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const auto order = order_of_epoch(4, 1, epoch);
    ++places[static_cast<std::size_t>(std::ranges::find(order, 0) - order.begin())];
  }
  // Five standard deviations of a binomial distribution.
  for (const int count : places) EXPECT_NEAR(count, epochs / 4, 137);
}

TEST(DataOrder, RanksShareTheSameGrains) {
  const auto whole = grains_of_rank(61, 8, 1, 0);
  ASSERT_EQ(whole.size(), 8u);
  EXPECT_EQ(whole.back(), (SampleRange{56, 61}));
  for (const int ranks : {2, 3, 5, 8}) {
    std::vector<SampleRange> together;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto own = grains_of_rank(61, 8, ranks, rank);
      EXPECT_GE(own.size(), static_cast<std::size_t>(8 / ranks));
      EXPECT_LE(own.size(), static_cast<std::size_t>(8 / ranks + 1));
      together.insert(together.end(), own.begin(), own.end());
    }
    EXPECT_EQ(together, whole) << ranks;
  }
}

TEST(DataOrder, GrainsSpanTheirSamples) {
  EXPECT_EQ(span_of(grains_of_rank(64, 8, 2, 1)), (SampleRange{32, 64}));
  EXPECT_EQ(span_of({}).size(), 0);
}

}  // namespace
}  // namespace selvage::sgd
