#include "mutation.hpp"

#include <selvage/topo/pattern.hpp>
#include <selvage/topo/placement.hpp>
#include <selvage/topo/simulation.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace selvage::topo {
namespace {

TEST(Metrics, CountsHopBytesDilationAndLinks) {
  const Fabric fabric =
      fabric_from_slurm("SwitchName=a Nodes=x,y\nSwitchName=b Nodes=z\nSwitchName=t Switches=a,b\n", "t");
  const Traffic traffic(3, {{0, 1, {10, 1}, {30, 1}}, {2, 0, {}, {5, 1}}, {1, 1, {99, 1}, {}}});
  const MappingProblem problem{.traffic = traffic, .fabric = fabric, .grid = {}};
  const Metrics metrics = measure(problem, Placement::by_rank(3, 3));
  EXPECT_EQ(metrics.hop_bytes, 40 * 10 + 5 * 20);
  EXPECT_DOUBLE_EQ(metrics.average_dilation, 500.0 / 45);
  EXPECT_EQ(metrics.largest_dilation, 20u);
  EXPECT_EQ(metrics.bytes_between_hosts, 45u);
  EXPECT_EQ(metrics.largest_link_load, 40.0);
  std::uint64_t total = 0;
  for (const LinkLoad& load : link_loads(problem, Placement::by_rank(3, 3))) total += load.bytes;
  EXPECT_EQ(total, 2u * 40 + 4u * 5);
  EXPECT_NE(input_error([&] { (void)measure(problem, Placement::by_rank(2, 3)); }), "");
}

TEST(Metrics, SharesBytesAmongAdaptivePathsToTheLastByte) {
  const Fabric fabric = simulated_fabric({.hosts = 64, .slots_per_host = 1});
  const Traffic traffic(64, {{0, 63, {1003, 1}, {}}});
  MappingProblem problem{.traffic = traffic, .fabric = fabric, .grid = {}};
  problem.routing = Routing::adaptive;
  std::uint64_t total = 0;
  std::uint64_t largest_inside = 0;
  for (const LinkLoad& load : link_loads(problem, Placement::by_rank(64, 64))) {
    total += load.bytes;
    if (load.bytes < 1003) largest_inside = std::max(largest_inside, load.bytes);
  }
  EXPECT_EQ(total, 6u * 1003);
  EXPECT_LE(largest_inside, 1003u / 8 + 4);
}

}  // namespace
}  // namespace selvage::topo
