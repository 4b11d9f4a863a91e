#include "jacobi/cli/settings.hpp"

#include <selvage/comm/options.hpp>
#include <selvage/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace selvage::jacobi {
namespace {

Settings read(const std::string& text) {
  app::Input input = app::Input::parse(text, "a.toml");
  return read_settings(input);
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(read(text));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
    return error.message();
  }
  return "nothing was refused";
}

void expect_refusal(const std::string& text, const std::string& place, const std::string& part) {
  const std::string message = refusal(text);
  EXPECT_EQ(message.rfind(place, 0), 0u) << message;
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(Settings, AnEmptyInputIsTheDirichletCase) {
  const Settings settings = read("");
  EXPECT_EQ(settings.name, Case::dirichlet);
  EXPECT_EQ(settings.dimensions(), 2);
  EXPECT_EQ(settings.stencil_points, 5);
  EXPECT_EQ(settings.precision, Precision::fp64);
}

TEST(Settings, DimensionsFollowFromTheCells) {
  const Settings settings =
      read("[grid]\ncells = [8, 9, 10]\nperiodic = [true, false, true]\n[run]\nstencil = 27\n");
  EXPECT_EQ(settings.dimensions(), 3);
  EXPECT_EQ(settings.periodic, (std::vector<bool>{true, false, true}));
  EXPECT_EQ(read("[grid]\ncells = [8, 9, 10]\n").stencil_points, 7);
}

TEST(Settings, PublicSampleIsPeriodicInY) {
  const Settings settings = read("[case]\nname = \"public-sample\"\n");
  EXPECT_EQ(settings.periodic, (std::vector<bool>{true, false}));
  expect_refusal("[case]\nname = \"public-sample\"\n[grid]\nperiodic = [false, false]\n",
                 "a.toml:4:", "[true, false]");
  expect_refusal("[case]\nname = \"public-sample\"\n[grid]\ncells = [8, 8, 8]\n", "a.toml:4:", "grid.cells");
}

TEST(Settings, OverlapFollowsTheBackendUnlessItIsNamed) {
  const Settings chosen = read("");
  EXPECT_TRUE(chosen.chooses_overlap);
  EXPECT_NE(chosen.overlap, Overlap::kernel);
  for (const std::string name : {"off", "host", "kernel"}) {
    const Settings named = read("[run]\noverlap = \"" + name + "\"\n");
    EXPECT_FALSE(named.chooses_overlap);
    EXPECT_EQ(to_string(named.overlap), name);
  }
}

TEST(Settings, EveryTransportCanBeForced) {
  for (const Transport transport :
       {Transport::peer, Transport::copy_engine, Transport::mpi_direct, Transport::mpi_staged}) {
    const std::string name(to_string(transport));
    EXPECT_EQ(read("comm.transport = \"" + name + "\"").standard.transport, name);
  }
}

TEST(Settings, UnknownKeyComesWithTheClosestOne) {
  expect_refusal("[run]\nnorm_evry = 10\n", "a.toml:2:", "run.norm_every");
}

TEST(Settings, WrongTypesAreRefused) {
  expect_refusal("[grid]\ncells = \"many\"\n", "a.toml:2:", "grid.cells");
  expect_refusal("[run]\nnorm_every = 1.5\n", "a.toml:2:", "run.norm_every");
  expect_refusal("[run]\noverlap = true\n", "a.toml:2:", "run.overlap");
}

TEST(Settings, ZeroAndNegativeExtentsAreRefused) {
  expect_refusal("[grid]\ncells = [0, 4]\n", "a.toml:2:", "grid.cells");
  expect_refusal("[grid]\ncells = [4, -4]\n", "a.toml:2:", "grid.cells");
  expect_refusal("[grid]\ncells = [4]\n", "a.toml:2:", "grid.cells");
}

TEST(Settings, NotANumberIsRefused) {
  expect_refusal("[case]\namplitude = nan\n", "a.toml:2:", "case.amplitude");
  expect_refusal("[run]\ntolerance = inf\n", "a.toml:2:", "run.tolerance");
}

TEST(Settings, StencilsBelongToTheirDimensions) {
  expect_refusal("[run]\nstencil = 7\n", "a.toml:2:", "5 or 9");
  expect_refusal("[grid]\ncells = [4, 4, 4]\n[run]\nstencil = 9\n", "a.toml:4:", "7 or 27");
}

TEST(Settings, PeriodicAxesHoldAWave) {
  expect_refusal("[grid]\ncells = [2, 8]\nperiodic = [true, false]\n", "a.toml:2:", "needs 3");
}

TEST(Settings, ToleranceNeedsANorm) {
  expect_refusal("[run]\ntolerance = 1e-6\nnorm_every = 0\n", "a.toml:2:", "run.norm_every");
}

}  // namespace
}  // namespace selvage::jacobi
