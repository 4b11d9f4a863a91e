#include "md/physics/lattice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace selvage::md {
namespace {

TEST(Lattice, FillsTheBoxWithFourAtomsPerCell) {
  const State state = fcc_crystal({2, 3, 4}, 0.5);
  EXPECT_EQ(state.atoms(), 4 * 2 * 3 * 4);
  EXPECT_DOUBLE_EQ(static_cast<double>(state.atoms()) / state.domain.volume(), 0.5);
  EXPECT_DOUBLE_EQ(state.domain.length(2), 2 * state.domain.length(0));
  EXPECT_NO_THROW(check_state(state, "the lattice"));
  for (std::size_t i = 0; i < state.ids.size(); ++i)
    EXPECT_EQ(state.ids[i], static_cast<std::int64_t>(i) + 1);
}

TEST(Lattice, EachAtomHasTwelveNearestNeighbours) {
  const State state = fcc_crystal({3, 3, 3}, 1.0);
  const double nearest = std::cbrt(4.0) / std::sqrt(2.0);
  for (const auto& a : state.positions) {
    int neighbours = 0;
    for (const auto& b : state.positions) {
      double squared = 0;
      const double differences[3] = {a.x - b.x, a.y - b.y, a.z - b.z};
      for (int axis = 0; axis < 3; ++axis) {
        const double around = std::remainder(differences[axis], state.domain.length(axis));
        squared += around * around;
      }
      if (std::abs(std::sqrt(squared) - nearest) < 1e-9) ++neighbours;
      EXPECT_TRUE(squared < 1e-18 || std::sqrt(squared) > nearest - 1e-9);
    }
    EXPECT_EQ(neighbours, 12);
  }
}

/// Velocities are drawn from the bits of positions, so those have to be LAMMPS's.
TEST(Lattice, HasTheBitsOfLammps) {
  const State state = fcc_crystal({20, 20, 20}, 0.8442);
  EXPECT_EQ(state.domain.upper[0], 33.59192382765015);
  EXPECT_EQ(state.positions[1].x, 0.8397980956912536);
  EXPECT_EQ(state.positions[31999].x, 31.912327636267637);
  EXPECT_EQ(state.positions[31999].y, 32.75212573195889);
}

TEST(Lattice, ADropletIsCutAroundItsCentreThroughPeriodicSides) {
  const State crystal = fcc_crystal({8, 8, 8}, 0.8442);
  const double radius = 0.3 * crystal.domain.length(0);
  const State middle = cut_droplet(crystal, {radius, {0.5, 0.5, 0.5}});
  const State corner = cut_droplet(crystal, {radius, {0, 1, 0}});
  EXPECT_EQ(middle.domain, crystal.domain);
  EXPECT_NEAR(static_cast<double>(middle.atoms()), 0.8442 * 4.18879 * std::pow(radius, 3), 40);
  EXPECT_EQ(middle.atoms(), corner.atoms());
  EXPECT_NO_THROW(check_state(corner, "the droplet"));
  EXPECT_EQ(corner.ids.back(), corner.atoms());
}

}  // namespace
}  // namespace selvage::md
