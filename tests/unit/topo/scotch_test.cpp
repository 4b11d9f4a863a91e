#include <selvage/topo/pattern.hpp>
#include <selvage/topo/placement.hpp>
#include <selvage/topo/simulation.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <vector>

namespace selvage::topo {
namespace {

TEST(Scotch, BeatsTheDefaultOnAFragmentedFatTree) {
  if (!has_scotch()) GTEST_SKIP() << "built without SCOTCH";
  const Pattern pattern = pattern_named("3d-8x8x8");
  const Fabric fabric = simulated_fabric({.hosts = 128, .slots_per_host = 4, .fragmented = true, .seed = 1});
  const MappingProblem problem{.traffic = pattern.traffic, .fabric = fabric, .grid = {}};
  const double of_default = measure(problem, Placement::by_rank(512, 512)).hop_bytes;
  EXPECT_LT(measure(problem, *place(problem, "scotch+swap")).hop_bytes, 0.85 * of_default);
  EXPECT_LT(measure(problem, *place(problem, "scotch_hosts+swap")).hop_bytes, 0.83 * of_default);
}

TEST(Scotch, LeavesSlotsThatWouldTakeTooMuchMemoryToOtherMethods) {
  const Pattern pattern = pattern_named("2d-36x36");
  const Fabric fabric = simulated_fabric({.hosts = 1296, .slots_per_host = 1});
  EXPECT_FALSE(place({.traffic = pattern.traffic, .fabric = fabric, .grid = {}}, "scotch"));
}

TEST(Scotch, DoesNotDependOnTheNumberOfCores) {
  if (!has_scotch()) GTEST_SKIP() << "built without SCOTCH";
  const Pattern pattern = pattern_named("2d-16x16");
  const Fabric fabric =
      simulated_fabric({.kind = SimulatedKind::torus, .hosts = 64, .slots_per_host = 4, .seed = 1});
  const MappingProblem problem{.traffic = pattern.traffic, .fabric = fabric, .grid = {}};
  std::vector<std::optional<Placement>> placed;
  for (const char* threads : {"1", "2", "8", "8"}) {
    setenv("SCOTCH_PTHREAD_NUMBER", threads, 1);  // what SCOTCH takes instead of the number of cores
    placed.push_back(place(problem, "scotch_hosts"));
  }
  unsetenv("SCOTCH_PTHREAD_NUMBER");
  for (const auto& again : placed) EXPECT_EQ(again, placed.front());
}

}  // namespace
}  // namespace selvage::topo
