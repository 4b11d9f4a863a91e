#include "jacobi/physics/problem.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace selvage::jacobi {
namespace {

TEST(Problem, PublicSampleHasSinesOnItsTwoSides) {
  const Problem<2> sample{.name = Case::public_sample, .cells = {14, 14}, .periodic = {true, false}};
  EXPECT_EQ(sample.initial_value({3, 5}), 0);
  // Row 3 of the unknowns is row 4 of the sample's 16.
  EXPECT_DOUBLE_EQ(sample.initial_value({3, -1}), std::sin(2 * std::numbers::pi * 4 / 15));
  EXPECT_DOUBLE_EQ(sample.initial_value({3, 14}), std::sin(2 * std::numbers::pi * 4 / 15));
}

TEST(Problem, SidesInPeriodicGhostRowsAreThoseOfTheRowsTheyStandFor) {
  const Problem<2> sample{.name = Case::public_sample, .cells = {14, 14}, .periodic = {true, false}};
  EXPECT_EQ(sample.initial_value({-2, -1}), sample.initial_value({12, -1}));
  EXPECT_EQ(sample.initial_value({15, 14}), sample.initial_value({1, 14}));
}

TEST(Problem, PublicSampleNormsAreKnown) {
  EXPECT_EQ(public_sample_norm(1024, true, 100), 0.224180122670);
  EXPECT_EQ(public_sample_norm(16384, false, 900), 0.173818);
  EXPECT_TRUE(std::isnan(public_sample_norm(1024, true, 50)));
}

TEST(Problem, FirstPublicSampleNormIsKnownForAnySize) {
  EXPECT_NEAR(public_sample_norm(1024, false, 0), 7.996092795860, 1e-11);
  EXPECT_NEAR(public_sample_norm(16384, true, 0), 31.999022, 2e-6);
}

TEST(Problem, ModeVanishesOnFixedSidesAndRepeatsOnPeriodicOnes) {
  const Problem<2> problem{.name = Case::dirichlet, .cells = {7, 8}, .periodic = {false, true}};
  const auto fixed = problem.mode(0, -1, 8);
  EXPECT_NEAR(fixed.front(), 0, 1e-15);
  EXPECT_NEAR(fixed.back(), 0, 1e-15);
  EXPECT_DOUBLE_EQ(fixed[4], 1);
  const auto periodic = problem.mode(1, -1, 9);
  EXPECT_EQ(periodic[0], periodic[8]);
  EXPECT_EQ(periodic[1], periodic[9]);
  EXPECT_DOUBLE_EQ(periodic[3], 1);
}

TEST(Problem, ModeInAPartIsAPartOfTheMode) {
  const Problem<2> problem{.name = Case::dirichlet, .cells = {20, 20}, .periodic = {false, false}};
  const auto whole = problem.mode(0, 0, 20);
  const auto part = problem.mode(0, 5, 9);
  for (std::size_t i = 0; i < part.size(); ++i) EXPECT_EQ(part[i], whole[i + 5]);
}

}  // namespace
}  // namespace selvage::jacobi
