#include "engine_fixture.hpp"
#include "expect_error.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

namespace selvage::md {
namespace {

using app::testing_support::error_message;
using namespace testing_support;

EngineOptions options_of(ListKind kind, int every, bool displacement) {
  EngineOptions options;
  options.list = kind;
  options.rebuild_every = every;
  options.checks_displacement = displacement;
  return options;
}

void expect_same_bits(const State& a, const State& b) {
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(largest_difference(a.positions, b.positions), 0);
  EXPECT_EQ(largest_difference(a.velocities, b.velocities), 0);
  for (std::size_t i = 0; i < a.images.size(); ++i) {
    EXPECT_EQ(a.images[i].x, b.images[i].x);
    EXPECT_EQ(a.images[i].y, b.images[i].y);
    EXPECT_EQ(a.images[i].z, b.images[i].z);
  }
}

template <class Numbers>
void expect_continuation(EngineOptions options) {
  const State start = disordered({4, 4, 4}, 0.1);
  TestRun<Numbers> whole(start, options);
  whole.advance(37, true);
  const State stopped = whole.engine.state();
  TestRun<Numbers> second(stopped, options);
  whole.advance(44);
  second.advance(44);
  EXPECT_EQ(whole.engine.measure().total_energy, second.engine.measure().total_energy);
  expect_same_bits(whole.engine.state(), second.engine.state());
}

TEST(Engine, GoesOnFromAStateWithTheSameBits) {
  expect_continuation<Fp64>(options_of(ListKind::full, 20, false));
  expect_continuation<Fp64>(options_of(ListKind::full, 1, true));
  expect_continuation<Mixed>(options_of(ListKind::full, 7, false));
  expect_continuation<Fp32>(options_of(ListKind::full, 20, false));
  EngineOptions warmed = options_of(ListKind::full, 20, false);
  warmed.langevin = LangevinOptions{.temperature = 0.9, .damping = 0.5, .seed = 3};
  expect_continuation<Fp64>(warmed);
  EngineOptions kept = options_of(ListKind::full, 20, false);
  kept.nose_hoover = NoseHooverOptions{.temperature = 0.9, .damping = 0.5};
  expect_continuation<Fp64>(kept);
  expect_continuation<Fp32>(kept);
}

/// Measuring ends a step early, which must not show.
TEST(Engine, MeasuringChangesNothing) {
  const State start = disordered({4, 4, 4}, 0.1);
  TestRun<Fp64> often(start, {});
  TestRun<Fp64> seldom(start, {});
  for (int step = 0; step < 25; ++step) {
    often.engine.advance(true, false);
    static_cast<void>(often.engine.measure());
    seldom.engine.advance(step == 24, false);
  }
  expect_same_bits(often.engine.state(), seldom.engine.state());
}

TEST(Engine, FollowsTheSameTrajectoryWithFullAndHalfLists) {
  const State start = disordered({4, 4, 4}, 0.1);
  TestRun<Fp64> full(start, options_of(ListKind::full, 10, false));
  TestRun<Fp64> half(start, options_of(ListKind::half, 10, false));
  full.advance(40);
  half.advance(40);
  const State a = full.engine.state();
  const State b = half.engine.state();
  EXPECT_LT(largest_difference(by_id(a, a.positions), by_id(b, b.positions)), 1e-11);
}

/// Back to the start with velocities reversed: velocity Verlet is time-reversible but for rounding.
TEST(Engine, RunsBackwards) {
  const State start = disordered({3, 3, 3}, 0.1);
  TestRun<Fp64> forth(start, options_of(ListKind::full, 1, true));
  forth.advance(50);
  State turned = forth.engine.state();
  for (auto& v : turned.velocities) v = {-v.x, -v.y, -v.z};
  TestRun<Fp64> back(turned, options_of(ListKind::full, 1, true));
  back.advance(50);
  const State end = back.engine.state();
  const auto there = by_id(end, end.positions);
  const auto expected = by_id(start, start.positions);
  double largest = 0;
  for (std::size_t i = 0; i < there.size(); ++i) {
    const double differences[] = {there[i].x - expected[i].x, there[i].y - expected[i].y,
                                  there[i].z - expected[i].z};
    for (int axis = 0; axis < 3; ++axis)
      largest = std::max(largest, std::abs(std::remainder(differences[axis], start.domain.length(axis))));
  }
  EXPECT_LT(largest, 1e-9);
}

TEST(Engine, CountsHowOftenAtomsLeftTheBox) {
  State state;
  state.domain = {{-1, 0, 0}, {9, 10, 10}};
  state.ids = {1, 2};
  state.positions = {{8.9, 0.1, 5}, {0, 5, 5}};
  state.velocities = {{10, -10, 0}, {0, 0, 0}};
  state.images = {{0, 0, 4}, {0, 0, 0}};
  TestRun<Fp64> run(state, options_of(ListKind::full, 1, false));
  run.advance(250);  // 1.25 tau: 12.5 sigma
  const State end = run.engine.state();
  const std::size_t first = end.ids[0] == 1 ? 0 : 1;
  EXPECT_EQ(end.images[first].x, 2);
  EXPECT_EQ(end.images[first].y, -2);
  EXPECT_EQ(end.images[first].z, 4);
  EXPECT_NEAR(end.positions[first].x, 8.9 + 12.5 - 20, 1e-10);
  EXPECT_NEAR(end.positions[first].y, 0.1 - 12.5 + 20, 1e-10);
}

/// One atom at rest, and one that flies past it at a distance.
State flying(double speed, std::int64_t step = 0) {
  State state;
  state.domain = {{0, 0, 0}, {10, 10, 10}};
  state.ids = {1, 2};
  state.positions = {{5, 2, 2}, {5, 7, 7}};
  state.velocities = {{0, 0, 0}, {speed, 0, 0}};
  state.images.resize(2);
  state.step = step;
  return state;
}

struct RebuildCounts {
  std::int64_t dangerous, all;
  bool operator==(const RebuildCounts&) const = default;
};
template <class Numbers>
RebuildCounts counts_of(const TestRun<Numbers>& run) {
  return {run.engine.dangerous_rebuilds(), run.engine.rebuilds()};
}

RebuildCounts rebuilds_of(double speed, const EngineOptions& options, int steps) {
  TestRun<Fp64> run(flying(speed), options);
  run.advance(steps);
  return counts_of(run);
}

/// Half the skin is 0.15.
TEST(Engine, CountsFixedRebuildsThatComeAfterAnAtomHasMovedHalfTheSkin) {
  const EngineOptions options = options_of(ListKind::full, 20, false);
  EXPECT_EQ(rebuilds_of(1.4, options, 65), (RebuildCounts{0, 3}));
  EXPECT_EQ(rebuilds_of(1.6, options, 65), (RebuildCounts{3, 3}));
  EXPECT_EQ(rebuilds_of(-1.6, options_of(ListKind::half, 20, false), 65), (RebuildCounts{3, 3}));
  EXPECT_EQ(rebuilds_of(1.6, options_of(ListKind::full, 10, false), 65), (RebuildCounts{0, 6}));
  EngineOptions silent = options;
  silent.counts_dangerous = false;
  EXPECT_EQ(rebuilds_of(1.6, silent, 65), (RebuildCounts{0, 3}));
  // New in every step, a list never meets atoms that have moved.
  EXPECT_EQ(rebuilds_of(100, options_of(ListKind::full, 1, false), 5), (RebuildCounts{0, 5}));
}

TEST(Engine, OfCheckedRebuildsOnlyThoseOfTheFirstCheckAreDangerous) {
  // In every step: in time, whatever the speed.
  EXPECT_EQ(rebuilds_of(4, options_of(ListKind::full, 1, true), 16), (RebuildCounts{0, 2}));
  EXPECT_EQ(rebuilds_of(31, options_of(ListKind::full, 1, true), 5), (RebuildCounts{0, 5}));
  // Every 5 steps: 0.2 at the second check, 0.175 at the first.
  EXPECT_EQ(rebuilds_of(4, options_of(ListKind::full, 5, true), 20), (RebuildCounts{0, 2}));
  EXPECT_EQ(rebuilds_of(7, options_of(ListKind::full, 5, true), 20), (RebuildCounts{4, 4}));
}

TEST(Engine, RebuildsOutOfTurnAreLookedAtToo) {
  TestRun<Fp64> fixed(flying(4), options_of(ListKind::full, 20, false));
  fixed.advance(6, true);
  EXPECT_EQ(counts_of(fixed), (RebuildCounts{0, 1}));
  fixed.advance(9, true);
  EXPECT_EQ(counts_of(fixed), (RebuildCounts{1, 2}));
  TestRun<Fp64> checked(flying(4), options_of(ListKind::full, 20, true));
  checked.advance(9, true);
  EXPECT_EQ(counts_of(checked), (RebuildCounts{1, 1}));
}

TEST(Engine, TheListsThatARunStartsWithAreNoRebuild) {
  TestRun<Fp64> run(flying(1.6, 10), options_of(ListKind::full, 20, false));
  EXPECT_EQ(counts_of(run), (RebuildCounts{0, 0}));
  run.advance(20);
  EXPECT_EQ(counts_of(run), (RebuildCounts{1, 1}));
}

TEST(Engine, KeepsTheMomentum) {
  TestRun<Fp64> run(disordered({5, 5, 5}, 0.1), {});
  run.advance(100);
  EXPECT_LT(run.engine.measure().momentum, 1e-14);
}

TEST(Engine, TheThermostatBringsTheTemperature) {
  for (const double damping : {0.1, 1.0}) {
    EngineOptions options;
    options.langevin = LangevinOptions{.temperature = 0.8, .damping = damping, .seed = 5};
    TestRun<Fp64> run(disordered({6, 6, 6}, 0.1, 2.5), options);
    run.advance(1000);
    double mean = 0;
    for (int sample = 0; sample < 50; ++sample) {
      run.advance(10);
      mean += run.engine.measure().temperature / 50;
    }
    // 50 samples of 2592 components each, of which at least every tenth counts by itself.
    EXPECT_NEAR(mean, 0.8, 0.02) << "damping " << damping;
  }
}

TEST(Engine, NoseHooverBringsTheTemperatureAndKeepsItsEnergy) {
  EngineOptions options;
  options.shifted = true;
  options.dt = 0.002;
  options.checks_displacement = true;
  options.rebuild_every = 1;
  options.nose_hoover = NoseHooverOptions{.temperature = 0.9, .damping = 0.3};
  TestRun<Fp64> run(disordered({5, 5, 5}, 0.1, 2.5), options);
  run.advance(1000);
  const auto conserved = [&] {
    const ThermoRow row = run.engine.measure();
    return row.total_energy + run.engine.thermostat_energy() / static_cast<double>(run.engine.atoms());
  };
  const double first = conserved();
  const double first_energy = run.engine.measure().total_energy;
  double mean = 0;
  double largest_error = 0;
  double largest_change = 0;
  for (int sample = 0; sample < 400; ++sample) {
    run.advance(20);
    const ThermoRow row = run.engine.measure();
    mean += row.temperature / 400;
    largest_error = std::max(largest_error, std::abs(conserved() - first));
    largest_change = std::max(largest_change, std::abs(row.total_energy - first_energy));
  }
  EXPECT_NEAR(mean, 0.9, 0.02);
  // Temperature and energy swing around their means, and the error of the steps with them.
  EXPECT_LT(largest_error, 0.01 * largest_change);
  EXPECT_GT(largest_change, 0.05) << "the thermostat did nothing, so the test proves nothing";
}

/// The error of what is kept falls with the square of the time step: the steps are those of the paper, not nearly so.
TEST(Engine, NoseHooverIsOfSecondOrder) {
  const auto error_with = [](double dt, int steps) {
    EngineOptions options;
    options.dt = dt;
    options.shifted = true;
    options.rebuild_every = 1;
    options.nose_hoover = NoseHooverOptions{.temperature = 0.5, .damping = 0.1};
    TestRun<Fp64> run(disordered({4, 4, 4}, 0.1, 1.5), options);
    const double first = run.engine.measure().total_energy;
    run.advance(steps);
    return std::abs(run.engine.measure().total_energy + run.engine.thermostat_energy() / 256 - first);
  };
  const double ratio = error_with(0.002, 30) / error_with(0.001, 60);
  EXPECT_GT(ratio, 3);
  EXPECT_LT(ratio, 5);
}

TEST(Engine, TheThermostatsNumbersDontDependOnTheOrderOfAtoms) {
  EngineOptions options;
  options.langevin = LangevinOptions{.temperature = 1, .damping = 0.1, .seed = 5};
  State state = disordered({3, 3, 3}, 0.1);
  State turned = state;
  std::ranges::reverse(turned.ids);
  std::ranges::reverse(turned.positions);
  std::ranges::reverse(turned.velocities);
  TestRun<Fp64> a(state, options);
  TestRun<Fp64> b(turned, options);
  a.advance(10);
  b.advance(10);
  const State end_a = a.engine.state();
  const State end_b = b.engine.state();
  EXPECT_LT(largest_difference(by_id(end_a, end_a.velocities), by_id(end_b, end_b.velocities)), 1e-11);
  options.langevin->seed = 6;
  TestRun<Fp64> c(state, options);
  c.advance(10);
  const State end_c = c.engine.state();
  EXPECT_GT(largest_difference(by_id(end_a, end_a.velocities), by_id(end_c, end_c.velocities)), 1e-2);
}

TEST(Engine, ATimeStepThatIsTooLongNamesTheFirstAtomAndStep) {
  State state = fcc_crystal({4, 4, 4}, 0.8442);
  EngineOptions options;
  options.dt = 0.01;
  // At rest, but for one atom of which the third step makes a runaway: 3 sigma in a step of 0.01 tau.
  state.velocities[17] = {0, 300, 0};
  TestRun<Fp64> run(state, options);
  const std::string message = error_message(ErrorKind::numeric, [&] { run.advance(20); });
  EXPECT_EQ(message.rfind("atom 18 moved more than a cutoff (2.5 sigma) in step 1: ", 0), 0u) << message;
}

TEST(Engine, ABlowUpIsFoundWhenItIsMeasured) {
  EngineOptions options;
  options.dt = 0.2;
  options.rebuild_every = 1000;
  TestRun<Fp64> run(disordered({4, 4, 4}, 0.2), options);
  run.advance(200);
  const std::string message =
      error_message(ErrorKind::numeric, [&] { static_cast<void>(run.engine.measure()); });
  EXPECT_NE(message.find("moved more than a cutoff"), std::string::npos) << message;
}

TEST(Engine, OverlappingAtomsAreRefused) {
  State state = fcc_crystal({4, 4, 4}, 0.8442);
  state.positions[100] = state.positions[200];
  state.positions[100].x += 0.01;
  const std::string message = error_message(ErrorKind::input, [&] { TestRun<Fp64>(state, EngineOptions{}); });
  EXPECT_NE(message.find("has a neighbour only 0.01 sigma away at step 0: atoms overlap"), std::string::npos)
      << message;
  EXPECT_TRUE(message.find("atom 101 ") == 0 || message.find("atom 201 ") == 0) << message;
}

/// All atoms in one corner, so that lists and cells are longer and ghosts more than the first guess has room for.
TEST(Engine, RoomGrowsWithTheDensity) {
  State state = fcc_crystal({5, 5, 5}, 4.0);
  state.domain.upper = {40, 40, 40};
  EngineOptions options;
  options.dt = 1e-5;
  TestRun<Fp64> run(state, options);
  EXPECT_GT(run.engine.ghosts(), 0);
  run.advance(1);
  EXPECT_EQ(run.engine.atoms(), 500);
}

/// Ghosts whose third migration loses two atoms.
struct LosingImages : PeriodicImages<double, Space> {
  using PeriodicImages::PeriodicImages;
  int migrations = 0;
  void migrate(const Space& space, Atoms<double, Space>& atoms) {
    PeriodicImages::migrate(space, atoms);
    if (++migrations == 3) atoms.owned -= 2;
  }
};

TEST(Engine, LostAtomsAreMissedInTheStepThatLostThem) {
  const State state = disordered({4, 4, 4}, 0.1);
  EngineOptions options;
  app::Breakdown breakdown("md", false);
  Engine<Fp64, Space, LosingImages> engine(Space(), state, options,
                                           LosingImages(state.domain, options.list_cutoff()), breakdown);
  const std::string message = error_message(ErrorKind::numeric, [&] {
    for (int step = 0; step < 100; ++step) engine.advance(false, false);
  });
  EXPECT_EQ(message,
            "at step 40 there are 254 atoms on all ranks together, 2 fewer than the 256 of the start");
}

}  // namespace
}  // namespace selvage::md
