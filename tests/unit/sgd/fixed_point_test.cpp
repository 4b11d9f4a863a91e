#include "sgd/sums/fixed_point.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace selvage::sgd::fixed_point {
namespace {

TEST(FixedPoint, SumsDontDependOnTheOrder) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(1000);
  for (float& value : values) value = normal(random);
  const auto sum = [&] {
    std::int64_t total = 0;
    for (const float value : values) total += from_real(value);
    return total;
  };
  const std::int64_t first = sum();
  std::ranges::shuffle(values, random);
  EXPECT_EQ(sum(), first);
  double exact = 0;
  for (const float value : values) exact += static_cast<double>(value);
  EXPECT_NEAR(to_real(first), exact, 1000 * unit / 2);
}

TEST(FixedPoint, RoundsToTheNearestUnit) {
  EXPECT_EQ(from_real(unit * 0.6), 1);
  EXPECT_EQ(from_real(unit * 0.4), 0);
  EXPECT_EQ(from_real(-unit * 0.6), -1);
  EXPECT_EQ(to_real(from_real(-3.25)), -3.25);
}

TEST(FixedPoint, TheLargestCanBeAddedAsOftenAsPromised) {
  const double sum = to_real(from_real(largest)) * 32768;
  EXPECT_LE(sum / unit, 0x1p+63);
  EXPECT_TRUE(fits(largest));
  EXPECT_TRUE(fits(-largest));
}

TEST(FixedPoint, WhatHasNoPlaceIsToldApart) {
  EXPECT_FALSE(fits(largest * 1.01));
  EXPECT_FALSE(fits(-largest * 1.01));
  EXPECT_FALSE(fits(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(fits(-std::numeric_limits<double>::infinity()));
}

}  // namespace
}  // namespace selvage::sgd::fixed_point
