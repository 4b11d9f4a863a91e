#include "md/verify/verification.hpp"

#include "md/physics/lattice.hpp"
#include "md/verify/all_pairs.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace selvage::md {
namespace {

Settings settings_of(const std::string& text) {
  app::Input input = app::Input::parse(text, "a.toml");
  return read_settings(input);
}

ThermoRow known_row() {
  return {.step = 0,
          .temperature = 1.44,
          .pair_energy = -6.77336805323,
          .total_energy = -4.61343555323,
          .pressure = -5.01970725909,
          .momentum = 0};
}

/// The outcome of that name; "none" where there is none.
std::string outcome(const Verification& verification, const std::string& name) {
  for (const auto& outcome : verification.outcomes()) {
    if (outcome.name == name) return outcome.ok ? "ok" : "failed";
  }
  return "none";
}

TEST(Verification, AFigureThatDiffersInTheTenthDigitFails) {
  Verification right(settings_of(""), 32000);
  right.check(known_row());
  EXPECT_EQ(outcome(right, "known figures"), "ok");
  Verification wrong(settings_of(""), 32000);
  ThermoRow row = known_row();
  row.pressure *= 1 + 1e-10;
  wrong.check(row);
  EXPECT_EQ(outcome(wrong, "known figures"), "failed");
}

TEST(Verification, OtherPhysicsHaveNoKnownFigures) {
  for (const char* text : {"pair.shifted = true", "pair.cutoff = 3.0", "velocity.seed = 1", "run.dt = 0.004",
                           "system.density = 0.8"}) {
    Verification verification(settings_of(text), 32000);
    verification.check(known_row());
    EXPECT_EQ(outcome(verification, "known figures"), "none") << text;
  }
}

/// LAMMPS's lists, which are made every 20 steps, lack some pairs.
TEST(Verification, TheRunsFiguresAreKnownForListsOfTheBenchmarkAlone) {
  for (const auto& [text, expected] : {std::pair{"list.rebuild = 'fixed'", "failed"}, std::pair{"", "none"},
                                       std::pair{"list.rebuild = 'fixed'\nlist.every = 10", "none"}}) {
    Verification verification(settings_of(text), 32000);
    ThermoRow row = known_row();
    row.step = 100;
    verification.check(row);
    EXPECT_EQ(outcome(verification, "known figures"), expected) << text;
  }
}

TEST(Verification, ShortStepsLeaveTheEnergyRoomForRounding) {
  for (const auto& [precision, difference, expected] : {std::tuple{"fp64", 5e-13, "ok"},
                                                        {"fp64", 1e-10, "failed"},
                                                        {"mixed", 2e-6, "ok"},
                                                        {"mixed", 1e-4, "failed"}}) {
    Verification verification(
        settings_of(std::string("pair.shifted = true\nrun.dt = 1e-9\nrun.precision = \"") + precision + "\""),
        480);
    ThermoRow row = known_row();
    verification.check(row);
    row.step = 1;
    row.total_energy += difference;
    verification.check(row);
    EXPECT_EQ(outcome(verification, "energy"), expected) << precision << ", " << difference;
  }
}

TEST(Verification, ACrystalOfAnySizeHasTheKnownEnergy) {
  for (const auto& [difference, expected] : {std::pair{0.0, "ok"}, {1e-9, "failed"}}) {
    Verification verification(settings_of("system.cells = [20, 20, 21]"), 33600);
    ThermoRow row = known_row();
    row.pressure *= 1 + 1e-6;  // it hangs on the size
    row.pair_energy *= 1 + difference;
    verification.check(row);
    EXPECT_EQ(outcome(verification, "known figures"), expected) << difference;
  }
}

TEST(Verification, MomentumHasToBeKept) {
  Verification verification(settings_of("pair.shifted = true"), 32000);
  ThermoRow row = known_row();
  verification.check(row);
  EXPECT_EQ(outcome(verification, "momentum"), "ok");
  row.momentum = 2e-12;
  verification.check(row);
  EXPECT_EQ(outcome(verification, "momentum"), "failed");
}

/// The outcome for rows of the steps given, whose energies differ from the first's by what is given in units of dt^2.
std::string energy_outcome(double dt, const std::vector<std::pair<std::int64_t, double>>& rows) {
  Verification verification(settings_of("pair.shifted = true\nrun.dt = " + std::to_string(dt)), 32000);
  for (const auto& [step, difference] : rows) {
    ThermoRow row = known_row();
    row.step = step;
    row.total_energy += difference * dt * dt;
    verification.check(row);
  }
  return outcome(verification, "energy");
}

TEST(Verification, EnergyMayStrayBySquaredTimeStepsWhileTheLatticeMelts) {
  for (const double dt : {0.001, 0.002, 0.005}) {
    EXPECT_EQ(energy_outcome(dt, {{0, 0}, {20, 70}}), "ok") << dt;
    EXPECT_EQ(energy_outcome(dt, {{0, 0}, {20, -70}}), "ok") << dt;
    EXPECT_EQ(energy_outcome(dt, {{0, 0}, {20, 90}}), "failed") << dt;
  }
}

TEST(Verification, EnergyHasToBeKeptOnceTheLatticeHasMelted) {
  for (const double dt : {0.001, 0.002, 0.005}) {
    const auto settled = static_cast<std::int64_t>(0.4 / dt);
    EXPECT_EQ(energy_outcome(dt, {{0, 0}, {settled, 5}, {settled + 10, -4}}), "ok") << dt;
    EXPECT_EQ(energy_outcome(dt, {{0, 0}, {settled, 5}, {settled + 10, -7}}), "failed") << dt;
    // A run that goes on from a file starts melted.
    EXPECT_EQ(energy_outcome(dt, {{settled, 0}, {settled + 10, 12}}), "failed") << dt;
  }
}

TEST(Verification, EnergyMayDriftWithTime) {
  EXPECT_EQ(energy_outcome(0.005, {{100, 0}, {2100, 7e-5 / 0.005 / 0.005}}), "ok");
  EXPECT_EQ(energy_outcome(0.005, {{100, 0}, {2100, 4e-4 / 0.005 / 0.005}}), "failed");
}

TEST(Verification, AThermostatLeavesNothingToCompare) {
  Verification verification(settings_of("thermostat.kind = \"langevin\""), 32000);
  verification.check(known_row());
  EXPECT_EQ(outcome(verification, "anything"), "failed");
}

TEST(Verification, NotANumberFails) {
  Verification verification(settings_of(""), 32000);
  ThermoRow row = known_row();
  row.pair_energy = std::numeric_limits<double>::quiet_NaN();
  verification.check(row);
  EXPECT_EQ(outcome(verification, "known figures"), "failed");
}

TEST(Verification, AWrongForceFails) {
  State state = fcc_crystal({2, 2, 2}, 0.8442);
  state.positions[5].x += 0.1;
  auto forces = all_pair_forces(state, 2.5);
  Verification right(settings_of(""), 32);
  right.check_forces(state, forces);
  EXPECT_EQ(outcome(right, "forces"), "ok");
  forces[7].y += 1e-7;
  Verification wrong(settings_of(""), 32);
  wrong.check_forces(state, forces);
  EXPECT_EQ(outcome(wrong, "forces"), "failed");
}

}  // namespace
}  // namespace selvage::md
