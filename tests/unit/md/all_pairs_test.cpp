#include "md/verify/all_pairs.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace selvage::md {
namespace {

State two_atoms(double distance_along_x) {
  State state;
  state.domain = {{0, 0, 0}, {10, 10, 10}};
  state.ids = {1, 2};
  state.positions = {{9.5, 5, 5}, {std::fmod(9.5 + distance_along_x, 10), 5, 5}};
  state.velocities.resize(2);
  state.images.resize(2);
  return state;
}

TEST(AllPairs, ForcesVanishAtTheMinimumAndBeyondTheCutoff) {
  EXPECT_NEAR(all_pair_forces(two_atoms(std::pow(2.0, 1.0 / 6)), 2.5)[0].x, 0, 1e-10);
  EXPECT_EQ(all_pair_forces(two_atoms(2.6), 2.5)[0].x, 0);
}

/// At distance 1 the force is 24, and it acts through the side of the box.
TEST(AllPairs, ForcesActThroughTheSidesAndAreOpposite) {
  const auto forces = all_pair_forces(two_atoms(1), 2.5);
  EXPECT_NEAR(forces[0].x, -24, 1e-11);
  EXPECT_NEAR(forces[1].x, 24, 1e-11);
  EXPECT_EQ(forces[0].y, 0);
}

}  // namespace
}  // namespace selvage::md
