#include "placement/guest_graph.hpp"

#include <selvage/topo/pattern.hpp>
#include <selvage/topo/placement.hpp>
#include <selvage/topo/simulation.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace selvage::topo {
namespace {

/// What an allreduce leaves in a profile: the same from each rank to each other one.
Traffic each_to_each(int ranks, std::uint64_t bytes) {
  std::vector<TrafficEntry> entries;
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      if (from != to) entries.push_back({from, to, {bytes, 1}, {}});
    }
  }
  return Traffic(ranks, std::move(entries));
}

TEST(GuestGraph, AddsUpBothDirectionsAndLeavesOutOneself) {
  const Traffic traffic(4, {{0, 2, {5, 1}, {1, 1}},
                            {2, 0, {10, 1}, {}},
                            {3, 0, {7, 1}, {}},
                            {1, 1, {9, 1}, {}},
                            {1, 3, {0, 4}, {}}});
  const GuestGraph graph = guest_graph(traffic, 5, 9);
  EXPECT_EQ(graph.first, (std::vector<std::size_t>{0, 2, 2, 3, 4, 4}));
  EXPECT_EQ(graph.neighbours, (std::vector<int>{2, 3, 0, 0}));
  EXPECT_EQ(graph.weights, (std::vector<std::uint64_t>{16, 7, 16, 7}));
}

TEST(GuestGraph, IsLeftAsItIsWithFewNeighbours) {
  const GuestGraph graph = guest_graph(each_to_each(64, 100), 64, 9);
  EXPECT_EQ(thinned(graph).weights, graph.weights);
}

TEST(GuestGraph, IsThinnedToWhatRisesAboveACollectiveCall) {
  const Traffic halo = pattern_named("2d-16x16").traffic;
  const GuestGraph alone = guest_graph(halo, 256, 9);
  const GuestGraph graph = thinned(guest_graph(each_to_each(256, 1 << 20) + halo, 256, 9));
  EXPECT_EQ(graph.first, alone.first);
  EXPECT_EQ(graph.neighbours, alone.neighbours);
  EXPECT_EQ(graph.weights, alone.weights);
}

TEST(GuestGraph, KeepsTheHeaviestEdgesWhereNothingIsCommonToAll) {
  // Two groups of 150, each to each inside; nothing between them.
  std::vector<TrafficEntry> entries;
  for (int from = 0; from < 300; ++from) {
    for (int to = 0; to < 300; ++to) {
      if (from != to && from % 2 == to % 2)
        entries.push_back({from, to, {(from / 2 + to / 2) % 97 + 1ULL, 1}, {}});
    }
  }
  const GuestGraph whole = guest_graph(Traffic(300, entries), 300, 9);
  const GuestGraph graph = thinned(whole);
  EXPECT_LT(graph.neighbours.size(), 64U * 300);
  for (int vertex = 0; vertex < 300; ++vertex) {
    EXPECT_GE(graph.first[vertex + 1] - graph.first[vertex], 32U);
    for (std::size_t edge = graph.first[vertex]; edge < graph.first[vertex + 1]; ++edge)
      EXPECT_EQ(graph.neighbours[edge] % 2, vertex % 2);
  }
}

/// These take seconds: a search whose cost grows with the square of the ranks runs into the limit that every test has.
void expect_worth_the_search(const Traffic& traffic, const Fabric& fabric) {
  const PortfolioResult result = place_by_portfolio({.traffic = traffic, .fabric = fabric, .grid = {}});
  EXPECT_LT(result.methods[result.best].metrics.hop_bytes, 0.9 * result.methods.front().metrics.hop_bytes);
}

TEST(Portfolio, PlacesAHaloBesideAnAllreduce) {
  const Traffic traffic = each_to_each(1024, 8) + pattern_named("3d-16x8x8").traffic;
  expect_worth_the_search(
      traffic, simulated_fabric({.hosts = 256, .slots_per_host = 4, .fragmented = true, .seed = 1}));
}

TEST(Portfolio, PlacesOneRankPerHost) {
  const Fabric fabric = simulated_fabric(
      {.kind = SimulatedKind::torus, .hosts = 4096, .slots_per_host = 1, .fragmented = true, .seed = 1});
  expect_worth_the_search(pattern_named("3d-16x16x16").traffic, fabric);
}

}  // namespace
}  // namespace selvage::topo
