#include "md/physics/velocities.hpp"

#include "md/physics/lattice.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace selvage::md {
namespace {

TEST(Velocities, HaveTheTemperatureAndNoMomentum) {
  State state = fcc_crystal({4, 5, 6}, 0.8442);
  draw_velocities(state, 0.72, 12345);
  double squared = 0;
  double sum[3] = {0, 0, 0};
  for (const auto& v : state.velocities) {
    squared += v.x * v.x + v.y * v.y + v.z * v.z;
    sum[0] += v.x;
    sum[1] += v.y;
    sum[2] += v.z;
  }
  EXPECT_NEAR(squared / (3.0 * static_cast<double>(state.atoms()) - 3), 0.72, 1e-14);
  for (const double component : sum) EXPECT_NEAR(component, 0, 1e-12);
}

TEST(Velocities, AreThoseOfLammps) {
  State state = fcc_crystal({20, 20, 20}, 0.8442);
  draw_velocities(state, 1.44, 87287);
  struct Known {
    std::size_t id;
    Vec3<double> velocity;
  };
  const Known known[] = {{1, {-0.14582831540066438, -0.6699461706816977, -2.01722216596886}},
                         {2, {-1.258697966412912, 1.4643991570442725, 1.5879138528088048}},
                         {17776, {-0.3516691422298888, -1.9947143292661453, 1.0194829978731628}},
                         {32000, {0.08503118176572394, 0.8277986474054141, 1.5695063477677564}}};
  for (const Known& atom : known) {
    const Vec3<double>& v = state.velocities[atom.id - 1];
    EXPECT_NEAR(v.x, atom.velocity.x, 1e-13);
    EXPECT_NEAR(v.y, atom.velocity.y, 1e-13);
    EXPECT_NEAR(v.z, atom.velocity.z, 1e-13);
  }
}

TEST(Velocities, DependOnTheSeedAndNotOnTheOrderOfAtoms) {
  State state = fcc_crystal({3, 3, 3}, 0.8442);
  State other = state;
  std::swap(other.positions.front(), other.positions.back());
  draw_velocities(state, 1, 1);
  draw_velocities(other, 1, 1);
  EXPECT_NEAR(state.velocities.front().x, other.velocities.back().x, 1e-14);
  EXPECT_GT(std::abs(state.velocities.front().x - other.velocities.front().x), 1e-6);
  draw_velocities(other, 1, 2);
  EXPECT_GT(std::abs(state.velocities.front().x - other.velocities.back().x), 1e-6);
}

}  // namespace
}  // namespace selvage::md
