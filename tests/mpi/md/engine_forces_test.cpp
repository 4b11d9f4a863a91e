#include "engine_fixture.hpp"
#include "md/verify/all_pairs.hpp"

#include <gtest/gtest.h>

#include <numbers>
#include <string>
#include <type_traits>

namespace selvage::md {
namespace {

using namespace testing_support;

template <class Numbers>
class EngineForces : public ::testing::Test {};

using AllNumbers = ::testing::Types<Fp64, Mixed, Fp32>;
TYPED_TEST_SUITE(EngineForces, AllNumbers);

/// Rounding relative to the largest force.
template <class Numbers>
constexpr double tolerance = std::is_same_v<Numbers, Fp64> ? 1e-13 : 1e-5;

template <class Numbers>
void expect_all_pair_forces(TestRun<Numbers>& run, double cutoff, const std::string& what) {
  const auto expected = all_pair_forces(run.engine.state(), cutoff);
  double largest = 0;
  for (const auto& f : expected) largest = std::max({largest, std::abs(f.x), std::abs(f.y), std::abs(f.z)});
  EXPECT_GT(largest, 1) << what;
  EXPECT_LE(largest_difference(run.engine.forces(), expected), tolerance<Numbers> * largest) << what;
}

/// Boxes from one that is hardly longer than the list's cutoff (ghosts on both sides of every atom) to one of several
/// cutoffs, cubic or not, and a cutoff that doesn't divide them.
TYPED_TEST(EngineForces, AreThoseOfAllPairs) {
  struct Case {
    std::array<std::int64_t, 3> cells;
    double cutoff;
    double skin;
  };
  for (const Case& c : {Case{{2, 2, 2}, 2.5, 0.3}, Case{{2, 2, 2}, 3.35, 0}, Case{{2, 5, 3}, 2.5, 0.3},
                        Case{{4, 4, 6}, 2.2, 0.7}, Case{{5, 4, 4}, 1.7, 0.11}}) {
    for (const ListKind kind : {ListKind::full, ListKind::half}) {
      EngineOptions options;
      options.cutoff = c.cutoff;
      options.skin = c.skin;
      options.list = kind;
      TestRun<TypeParam> run(disordered(c.cells, 0.25), options);
      const std::string what = fmt::format("{}x{}x{} cells, cutoff {}, {}", c.cells[0], c.cells[1],
                                           c.cells[2], c.cutoff, kind == ListKind::full ? "full" : "half");
      expect_all_pair_forces(run, c.cutoff, what);
    }
  }
}

/// Lists of the step before and ghosts that follow their owners still give every pair within the cutoff.
TYPED_TEST(EngineForces, StayThoseOfAllPairsBetweenRebuilds) {
  for (const ListKind kind : {ListKind::full, ListKind::half}) {
    EngineOptions options;
    options.list = kind;
    options.checks_displacement = true;
    options.rebuild_every = 1;
    TestRun<TypeParam> run(disordered({4, 4, 4}, 0.1), options);
    for (int step = 0; step < 60; step += 10) {
      run.advance(10);
      expect_all_pair_forces(run, options.cutoff, fmt::format("step {}", run.engine.step()));
    }
    EXPECT_GT(run.engine.rebuilds(), 2);
    EXPECT_LT(run.engine.rebuilds(), 30);
  }
}

/// The energy's slope along a displacement is minus the force, and pressure follows from the virial.
TEST(EngineEnergy, IsWhatTheForcesAreTheSlopeOf) {
  constexpr double step = 1e-5;
  EngineOptions options;
  options.shifted = true;  // without a jump at the cutoff
  const State state = disordered({3, 3, 3}, 0.2);
  const auto energy_with = [&](double dx) {
    State moved = state;
    moved.positions[10].x += dx;
    return TestRun<Fp64>(moved, options).engine.measure().pair_energy * static_cast<double>(state.atoms());
  };
  TestRun<Fp64> run(state, options);
  const auto forces = by_id(run.engine.state(), run.engine.forces());
  const double slope = (energy_with(step) - energy_with(-step)) / (2 * step);
  const double force = forces[static_cast<std::size_t>(state.ids[10] - 1)].x;
  EXPECT_NEAR(-slope / force, 1, 1e-6);
}

TEST(EngineEnergy, OfACrystalAtRestIsTheLatticeSum) {
  // The sum over an fcc lattice without a cutoff is 2 (12.13188 / R^12 - 14.45392 / R^6), R the nearest distance. What
  // lies beyond the cutoff is nearly a continuum.
  const double nearest = std::cbrt(4 / 0.8442) / std::sqrt(2.0);
  const double sum = 2 * (12.13188 * std::pow(nearest, -12) - 14.45392 * std::pow(nearest, -6));
  EngineOptions options;
  options.cutoff = 8;
  const double tail = -8 * std::numbers::pi * 0.8442 / 3 * std::pow(options.cutoff, -3);
  const ThermoRow row = TestRun<Fp64>(fcc_crystal({6, 6, 6}, 0.8442), options).engine.measure();
  EXPECT_NEAR(row.pair_energy, sum - tail, 1e-3);
  EXPECT_EQ(row.temperature, 0);
}

TEST(EngineEnergy, FullAndHalfListsAgree) {
  const State state = disordered({4, 3, 5}, 0.2);
  EngineOptions options;
  const ThermoRow full = TestRun<Fp64>(state, options).engine.measure();
  options.list = ListKind::half;
  const ThermoRow half = TestRun<Fp64>(state, options).engine.measure();
  EXPECT_NEAR(half.pair_energy / full.pair_energy, 1, 1e-13);
  EXPECT_NEAR(half.pressure / full.pressure, 1, 1e-12);
}

TEST(EngineEnergy, ShiftingTakesOffTheValueAtTheCutoff) {
  State state;
  state.domain = {{0, 0, 0}, {10, 10, 10}};
  state.ids = {1, 2};
  state.positions = {{1, 1, 1}, {2.5, 1, 1}};
  state.velocities.resize(2);
  state.images.resize(2);
  const auto energy_at = [](double r) { return 4 * (std::pow(r, -12) - std::pow(r, -6)); };
  EngineOptions options;
  EXPECT_NEAR(TestRun<Fp64>(state, options).engine.measure().pair_energy, energy_at(1.5) / 2, 1e-15);
  options.shifted = true;
  EXPECT_NEAR(TestRun<Fp64>(state, options).engine.measure().pair_energy,
              (energy_at(1.5) - energy_at(2.5)) / 2, 1e-15);
}

}  // namespace
}  // namespace selvage::md
