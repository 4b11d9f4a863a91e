#include "md/cli/settings.hpp"

#include "expect_error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace selvage::md {
namespace {

using app::testing_support::error_message;

Settings read_text(const std::string& text) {
  app::Input input = app::Input::parse(text, "a.toml");
  return read_settings(input);
}

void expect_refusal(const std::string& text, const std::string& place, const std::string& part) {
  const std::string message = error_message(ErrorKind::input, [&] { static_cast<void>(read_text(text)); });
  EXPECT_EQ(message.rfind(place, 0), 0u) << message;
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(Settings, AnEmptyInputIsTheBenchmarkButForWhenListsAreMade) {
  const Settings settings = read_text("");
  EXPECT_FALSE(settings.state_path);
  EXPECT_EQ(settings.cells, (std::array<std::int64_t, 3>{20, 20, 20}));
  EXPECT_EQ(settings.temperature, 1.44);
  EXPECT_EQ(settings.engine.cutoff, 2.5);
  EXPECT_FALSE(settings.engine.shifted);
  EXPECT_EQ(settings.engine.rebuild_every, 1);
  EXPECT_TRUE(settings.engine.checks_displacement);
  EXPECT_TRUE(settings.engine.counts_dangerous);
  EXPECT_EQ(settings.precision, Precision::fp64);
  EXPECT_FALSE(settings.engine.langevin);
}

TEST(Settings, DisplacementIsCheckedInEveryStepUnlessToldOtherwise) {
  EXPECT_EQ(read_text("[list]\nrebuild = \"displacement\"\n").engine.rebuild_every, 1);
  EXPECT_EQ(read_text("[list]\nrebuild = \"displacement\"\nevery = 5\n").engine.rebuild_every, 5);
}

TEST(Settings, FixedListsAreMadeEvery20StepsUnlessToldOtherwise) {
  const Settings settings = read_text("[list]\nrebuild = \"fixed\"\ncount_dangerous = false\n");
  EXPECT_FALSE(settings.engine.checks_displacement);
  EXPECT_EQ(settings.engine.rebuild_every, 20);
  EXPECT_FALSE(settings.engine.counts_dangerous);
  EXPECT_EQ(read_text("[list]\nrebuild = \"fixed\"\nevery = 5\n").engine.rebuild_every, 5);
}

TEST(Settings, AFilesVelocitiesAreKeptUnlessATemperatureIsGiven) {
  EXPECT_FALSE(read_text("[system]\nstate = \"a.h5\"\n").temperature);
  EXPECT_EQ(read_text("[system]\nstate = \"a.h5\"\n[velocity]\ntemperature = 2.0\n").temperature, 2.0);
}

TEST(Settings, TheThermostatIsReadWhereItIsOn) {
  const Settings settings =
      read_text("[thermostat]\nkind = \"langevin\"\ntemperature = 0.7\ndamping = 2.0\nseed = 9\n");
  ASSERT_TRUE(settings.engine.langevin);
  EXPECT_EQ(settings.engine.langevin->temperature, 0.7);
  EXPECT_EQ(settings.engine.langevin->damping, 2.0);
  EXPECT_EQ(settings.engine.langevin->seed, 9);
}

TEST(Settings, NoseHooverTakesNoSeedAndNoTemperatureOfZero) {
  const Settings settings =
      read_text("[thermostat]\nkind = \"nose-hoover\"\ntemperature = 0.7\ndamping = 2.0\n");
  ASSERT_TRUE(settings.engine.nose_hoover);
  EXPECT_FALSE(settings.engine.langevin);
  EXPECT_EQ(settings.engine.nose_hoover->temperature, 0.7);
  EXPECT_EQ(settings.engine.nose_hoover->damping, 2.0);
  expect_refusal("[thermostat]\nkind = \"nose-hoover\"\nseed = 3\n", "a.toml:3:", "draws nothing");
  expect_refusal("[thermostat]\nkind = \"nose-hoover\"\ntemperature = 0.0\n", "a.toml:3:", "above 0");
}

TEST(Settings, BalanceAndDropletAreReadWhereTheyAreOn) {
  EXPECT_FALSE(read_text("").engine.balance);
  EXPECT_FALSE(read_text("").droplet);
  const Settings settings = read_text(
      "[balance]\nkind = \"atoms\"\nthreshold = 1.2\nevery = 3\n"
      "[system]\ndroplet_radius = 4.0\ndroplet_centre = [0.1, 0.2, 0.3]\n");
  ASSERT_TRUE(settings.engine.balance);
  EXPECT_EQ(settings.engine.balance->threshold, 1.2);
  EXPECT_EQ(settings.engine.balance->every, 3);
  ASSERT_TRUE(settings.droplet);
  EXPECT_EQ(settings.droplet->radius, 4);
  EXPECT_EQ(settings.droplet->centre, (std::array<double, 3>{0.1, 0.2, 0.3}));
}

TEST(Settings, WrongValuesAreNamedWithTheirLine) {
  expect_refusal("[balance]\nthreshold = 0.9\n", "a.toml:2:", "balance.threshold");
  expect_refusal("[balance]\nevery = 0\n", "a.toml:2:", "balance.every");
  expect_refusal("[balance]\nkind = \"time\"\n", "a.toml:2:", "balance.kind");
  expect_refusal("[system]\ndroplet_centre = [0.5, 1.5, 0.5]\n", "a.toml:2:", "system.droplet_centre");
  expect_refusal("[system]\nstate = \"a.h5\"\ndroplet_radius = 4.0\n", "a.toml:3:", "is for the lattice");
  expect_refusal("[system]\ncells = [20, 20]\n", "a.toml:2:", "system.cells");
  expect_refusal("[system]\ndensity = 0.0\n", "a.toml:2:", "system.density");
  expect_refusal("[system]\nstate = \"a.h5\"\ndensity = 1.0\n", "a.toml:3:", "is for the lattice");
  expect_refusal("[pair]\ncutoff = -1.0\n", "a.toml:2:", "pair.cutoff");
  expect_refusal("[list]\nkind = \"hlaf\"\n", "a.toml:2:", "half");
  expect_refusal("[list]\nevery = 0\n", "a.toml:2:", "list.every");
  expect_refusal("[run]\ndt = 0.0\n", "a.toml:2:", "run.dt");
  expect_refusal("[run]\nprecison = \"fp64\"\n", "a.toml:2:", "did you mean");
  expect_refusal("[thermostat]\ndamping = 0.0\n", "a.toml:2:", "thermostat.damping");
}

}  // namespace
}  // namespace selvage::md
