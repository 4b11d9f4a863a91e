#include "mutation.hpp"
#include "placement/relief.hpp"
#include "placement/repair.hpp"

#include <selvage/topo/pattern.hpp>
#include <selvage/topo/placement.hpp>
#include <selvage/topo/simulation.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace selvage::topo {
namespace {

/// A graph of which each pair is joined with the given chance in per cent; 0 makes one without traffic.
Traffic random_traffic(int ranks, std::uint64_t chance, Random& random, std::uint64_t largest = 1000) {
  std::vector<TrafficEntry> entries;
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      if (random.below(100) >= chance) continue;
      entries.push_back({from, to, {1 + random.below(largest), 1}, {random.below(largest), 1}});
    }
  }
  return Traffic(ranks, std::move(entries));
}

/// Hosts of 1 to 3 slots at random distances.
Fabric random_fabric(int slots, Random& random) {
  FabricParts parts;
  for (int left = slots; left > 0;) {
    const int here = std::min<int>(left, 1 + static_cast<int>(random.below(3)));
    parts.hosts.push_back({"h", here, std::vector<std::uint32_t>(static_cast<std::size_t>(here) * here, 2)});
    left -= here;
  }
  const std::size_t hosts = parts.hosts.size();
  parts.host_costs.assign(hosts * hosts, 0);
  for (std::size_t a = 0; a < hosts; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      parts.host_costs[a * hosts + b] = parts.host_costs[b * hosts + a] =
          1 + static_cast<std::uint32_t>(random.below(40));
    }
  }
  return Fabric(std::move(parts));
}

MappingProblem problem_of(const Traffic& traffic, const Fabric& fabric) {
  return {.traffic = traffic, .fabric = fabric, .grid = {}};
}

/// Without the slots that stay free.
Placement ranks_of(Slots slots, int ranks) {
  const int slot_count = static_cast<int>(slots.size());
  slots.resize(static_cast<std::size_t>(ranks));
  return Placement(std::move(slots), slot_count);
}

/// Bytes by the cost of their way, added up by hand.
double hop_bytes_of(const MappingProblem& problem, const std::vector<int>& slots) {
  double cost = 0;
  for (const TrafficEntry& entry : problem.traffic.entries()) {
    cost += static_cast<double>(entry.host.bytes + entry.device.bytes) *
            problem.fabric.cost(slots[static_cast<std::size_t>(entry.from)],
                                slots[static_cast<std::size_t>(entry.to)]);
  }
  return cost;
}

/// All placements, one by one.
double least_hop_bytes(const MappingProblem& problem) {
  std::vector<int> slots(static_cast<std::size_t>(problem.fabric.slot_count()));
  std::iota(slots.begin(), slots.end(), 0);
  double least = std::numeric_limits<double>::max();
  do {
    least = std::min(least, hop_bytes_of(problem, slots));
  } while (std::next_permutation(slots.begin(), slots.end()));
  return least;
}

TEST(Placement, RefusesWhatIsNoPlacement) {
  EXPECT_EQ(input_error([] { Placement({0, 0}, 2); }), "rank 1 in slot 0, which is taken");
  EXPECT_EQ(input_error([] { Placement({0, 2}, 2); }), "rank 1 in slot 2 of 2");
  EXPECT_EQ(input_error([] { Placement({-1}, 2); }), "rank 0 in slot -1 of 2");
  EXPECT_EQ(input_error([] { Placement({0, 1, 2}, 2); }), "3 ranks don't fit in 2 slots");
}

TEST(Placement, RefusesMoreRanksThanSlots) {
  const Traffic traffic = pattern_named("2d-3x3").traffic;
  const Fabric fabric = simulated_fabric({.hosts = 2, .slots_per_host = 4});
  EXPECT_EQ(input_error([&] { (void)place_by_portfolio(problem_of(traffic, fabric)); }),
            "9 ranks don't fit in 8 slots");
  for (const std::string& method : mapper_names()) {
    EXPECT_EQ(input_error([&] { (void)place(problem_of(traffic, fabric), method); }),
              "9 ranks don't fit in 8 slots");
  }
}

TEST(Placement, RefusesUnknownMethods) {
  const Traffic traffic = pattern_named("2d-2x2").traffic;
  const Fabric fabric = simulated_fabric({.hosts = 1, .slots_per_host = 4});
  EXPECT_EQ(input_error([&] { (void)place(problem_of(traffic, fabric), "greedi"); }),
            "there is no method 'greedi', did you mean 'greedy'?");
}

bool joins_ranks(const Traffic& traffic) {
  return std::ranges::any_of(traffic.entries(), [](const TrafficEntry& entry) {
    return entry.from != entry.to && entry.host.bytes + entry.device.bytes > 0;
  });
}

/// How many of 60 random graphs a method places at least.
/// \param joined  those in which ranks talk to others: where none do, there is nothing to gain
int least_placed(const std::string& method, int joined) {
  if (method == "default" || method == "random") return 60;
  if (method == "blocks") return 0;       // it folds grids into hosts of one size
  if (method == "exhaustive") return 15;  // it gives up on many ranks
  return method.starts_with("scotch") && !has_scotch() ? 0 : joined;
}

TEST(Mappers, GivePlacementsOnEveryGraph) {
  Random random(1);
  std::map<std::string, int> placed;
  int joined = 0;
  for (int round = 0; round < 60; ++round) {
    const int slots = 1 + static_cast<int>(random.below(40));
    const int ranks = static_cast<int>(random.below(static_cast<std::uint64_t>(slots) + 1));
    const std::uint64_t chance = round % 4 == 0 ? 0 : random.below(30);
    const Traffic traffic = random_traffic(ranks, chance, random);
    const Fabric fabric = random_fabric(slots, random);
    MappingProblem problem = problem_of(traffic, fabric);
    joined += joins_ranks(traffic) ? 1 : 0;
    problem.grid = {ranks};
    if (ranks == 0) problem.grid.clear();
    for (const std::string& method : mapper_names()) {
      // Placement's constructor throws where it isn't one.
      const auto plain = place(problem, method);
      const auto swapped = place(problem, method + "+swap");
      ASSERT_EQ(plain.has_value(), swapped.has_value());
      if (!plain) continue;
      ++placed[method];
      EXPECT_EQ(plain->rank_count(), ranks) << method;
      EXPECT_LE(measure(problem, *swapped).hop_bytes, measure(problem, *plain).hop_bytes) << method;
    }
    EXPECT_EQ(place_by_portfolio(problem).result().placement.rank_count(), ranks);
  }
  EXPECT_GT(joined, 25);
  for (const std::string& method : mapper_names())
    EXPECT_GE(placed[method], least_placed(method, joined)) << method;
}

TEST(Mappers, KeepTogetherWhatTalksAcrossUnevenHosts) {
  // Two pairs on a host of two and two of one: the heavy pair belongs together.
  const Traffic traffic(4, {{0, 2, {1000, 1}, {}}, {1, 3, {1, 1}, {}}});
  const Fabric fabric({.description = "",
                       .hosts = {{"a", 1, {}}, {"b", 2, {}}, {"c", 1, {}}},
                       .host_costs = {0, 9, 9, 9, 0, 9, 9, 9, 0},
                       .slot_hosts = {},
                       .network = nullptr,
                       .endpoints = {}});
  const MappingProblem problem = problem_of(traffic, fabric);
  for (const char* method : {"greedy", "exhaustive", "default+swap"}) {
    const auto placement = place(problem, method);
    ASSERT_TRUE(placement) << method;
    EXPECT_EQ(fabric.host_of(placement->slot_of(0)), fabric.host_of(placement->slot_of(2))) << method;
  }
}

TEST(Mappers, FoldProcessGridsIntoHosts) {
  const Pattern pattern = pattern_named("2d-4x4");
  const Fabric fabric = simulated_fabric({.hosts = 4, .slots_per_host = 4});
  MappingProblem problem = problem_of(pattern.traffic, fabric);
  EXPECT_FALSE(place(problem, "blocks"));
  problem.grid = pattern.grid;
  const auto placement = place(problem, "blocks");
  ASSERT_TRUE(placement);
  EXPECT_EQ(std::vector<int>(placement->slots().begin(), placement->slots().begin() + 8),
            (std::vector<int>{0, 1, 4, 5, 2, 3, 6, 7}));
}

TEST(Mappers, FindTheOptimumOfAllPermutations) {
  Random random(2);
  int placed = 0;
  for (int round = 0; round < 25; ++round) {
    const int slots = 2 + static_cast<int>(random.below(6));
    const int ranks = slots - static_cast<int>(random.below(2));
    const Traffic traffic = random_traffic(ranks, 50, random);
    const Fabric fabric = random_fabric(slots, random);
    const MappingProblem problem = problem_of(traffic, fabric);
    const auto placement = place(problem, "exhaustive");
    ASSERT_EQ(placement.has_value(), joins_ranks(traffic)) << round;
    if (!placement) continue;
    ++placed;
    EXPECT_EQ(hop_bytes_of(problem, placement->slots()), least_hop_bytes(problem)) << round;
  }
  EXPECT_GT(placed, 15);
}

TEST(Portfolio, EqualsTheOptimumOfAllPermutationsOnEightAndNineRanks) {
  Random random(3);
  for (int round = 0; round < 20; ++round) {
    const int slots = round % 5 == 4 ? 9 : 8;
    const Traffic traffic = random_traffic(slots, 20 + random.below(60), random);
    const Fabric fabric = random_fabric(slots, random);
    const MappingProblem problem = problem_of(traffic, fabric);
    const PortfolioResult result = place_by_portfolio(problem);
    const double optimum = least_hop_bytes(problem);
    EXPECT_EQ(result.methods[result.best].metrics.hop_bytes, optimum);
    EXPECT_EQ(hop_bytes_of(problem, result.methods[result.best].placement.slots()), optimum);
    // The guard keeps the default only where that is within 3 per cent.
    const double of_default = result.methods.front().metrics.hop_bytes;
    const double wanted = optimum * 100 <= of_default * 97 ? optimum : of_default;
    EXPECT_EQ(hop_bytes_of(problem, result.result().placement.slots()), wanted);
  }
}

TEST(Portfolio, KeepsTheDefaultUnlessThreePerCentAreGained) {
  // Rank 0 talks to 1 and, a little more, to 2; only one of them can be beside it.
  const Fabric fabric({.description = "",
                       .hosts = {{"a", 2, {}}, {"b", 1, {}}},
                       .host_costs = {0, 2, 2, 0},
                       .slot_hosts = {},
                       .network = nullptr,
                       .endpoints = {}});
  const auto chosen = [&](std::uint64_t bytes) {
    const Traffic traffic(3, {{0, 1, {1000, 1}, {}}, {0, 2, {bytes, 1}, {}}});
    return place_by_portfolio(problem_of(traffic, fabric));
  };
  const PortfolioResult kept = chosen(1090);  // 2090 + 1090 against 2090 + 1000: 2.8 per cent
  EXPECT_EQ(kept.result().method, "default");
  EXPECT_EQ(kept.reason, "no method gains 3 %");
  EXPECT_NE(kept.methods[kept.best].method, "default");
  const PortfolioResult changed = chosen(1110);  // 3.4 per cent
  EXPECT_NE(changed.result().method, "default");
}

/// Two hosts whose way to each other is the only one; a detour for cost, but not for load.
class TwoHosts : public Network {
 public:
  TwoHosts() : Network(3) {
    add_link("thin", 1);
    add_link("wide", 100);
  }
  void find_paths(int from, int to, Routing, std::vector<Path>& paths) const override {
    paths = {{from + to == 1 ? 0 : 1}};
  }
};

TEST(Portfolio, KeepsTheDefaultWhereALinkWouldCarryMore) {
  // Host 0 and 1 are close over a thin link; the default sends over the wide one.
  const Fabric fabric({.description = "",
                       .hosts = {{"a", 1, {}}, {"b", 1, {}}, {"c", 1, {}}},
                       .host_costs = {0, 1, 9, 1, 0, 9, 9, 9, 0},
                       .slot_hosts = {},
                       .network = std::make_shared<const TwoHosts>(),
                       .endpoints = {}});
  const Traffic traffic(3, {{0, 2, {1000, 1}, {}}});
  const PortfolioResult result = place_by_portfolio(problem_of(traffic, fabric));
  EXPECT_EQ(result.methods[result.best].metrics.hop_bytes, 1000);
  EXPECT_EQ(result.result().method, "default");
  EXPECT_EQ(result.reason,
            "what is cheaper than the default loads a link more than it does, or takes longer");
}

TEST(Portfolio, SaysWhyNothingIsToBeGained) {
  const Fabric flat = simulated_fabric({.kind = SimulatedKind::flat, .hosts = 2, .slots_per_host = 4});
  const Traffic stencil = pattern_named("2d-4x2").traffic;
  EXPECT_EQ(place_by_portfolio(problem_of(stencil, flat)).reason,
            "all slots are equally far from each other");
  EXPECT_EQ(place_by_portfolio(problem_of(Traffic(8, {}), flat)).reason, "nothing is sent between ranks");
}

TEST(Portfolio, NeverCostsOrLoadsMoreThanTheDefault) {
  for (const char* pattern_name : {"3d-4x4x2", "2d-8x4-wrap", "coll-4x2x2", "md-4x2x2"}) {
    for (const char* fabric_name :
         {"fat-tree-fragmented", "dragonfly-fragmented", "torus-fragmented", "flat"}) {
      for (const Routing routing : {Routing::fixed, Routing::adaptive}) {
        const Pattern pattern = pattern_named(pattern_name);
        SimulatedFabric options = simulated_fabric_named(fabric_name);
        options.hosts = (pattern.traffic.rank_count() + 3) / 4;
        options.seed = 5;
        const Fabric fabric = simulated_fabric(options);
        const MappingProblem problem{.traffic = pattern.traffic,
                                     .fabric = fabric,
                                     .grid = pattern.grid,
                                     .seed = 1,
                                     .routing = routing};
        const PortfolioResult result = place_by_portfolio(problem);
        const Metrics& before = result.methods.front().metrics;
        EXPECT_LE(result.result().metrics.hop_bytes, before.hop_bytes) << pattern_name << fabric_name;
        EXPECT_LE(result.result().metrics.largest_link_load, before.largest_link_load)
            << pattern_name << fabric_name;
        const auto time = [&](const MethodResult& method) {
          return transfer_time(problem, method.placement).value_or(0);
        };
        EXPECT_LE(time(result.result()), longest_time_ratio * time(result.methods.front()))
            << pattern_name << fabric_name;
      }
    }
  }
}

// What is cheapest sends a large flow over a full link that goes idle at first: a link with more flows, at the other end of
// its way, holds it to a small share.
TEST(Portfolio, TakesNoLongerThanTheDefault) {
  if (!has_scotch()) GTEST_SKIP() << "built without SCOTCH";
  const Pattern pattern = pattern_named("2d-24x16");
  const Fabric fabric = simulated_fabric({.hosts = 96, .slots_per_host = 4});
  const MappingProblem problem{.traffic = pattern.traffic, .fabric = fabric, .grid = pattern.grid};
  const PortfolioResult result = place_by_portfolio(problem);
  const double of_default = *transfer_time(problem, result.methods.front().placement);
  const MethodResult& best = result.methods[result.best];
  EXPECT_LE(best.metrics.largest_link_load, result.methods.front().metrics.largest_link_load);
  EXPECT_GT(*transfer_time(problem, best.placement), 1.1 * of_default);
  EXPECT_LE(*transfer_time(problem, result.result().placement), longest_time_ratio * of_default);
  EXPECT_LT(result.result().metrics.hop_bytes, 0.9 * result.methods.front().metrics.hop_bytes);
}

TEST(Portfolio, TakesLoadOffLinksOfWhatIsCheapest) {
  if (!has_scotch()) GTEST_SKIP() << "built without SCOTCH";
  const Pattern pattern = pattern_named("2d-16x16");
  const Fabric fabric = simulated_fabric(
      {.kind = SimulatedKind::torus, .hosts = 64, .slots_per_host = 4, .fragmented = true, .seed = 1});
  const MappingProblem problem{.traffic = pattern.traffic, .fabric = fabric, .grid = pattern.grid};
  const PortfolioResult result = place_by_portfolio(problem);
  const Metrics& before = result.methods.front().metrics;
  EXPECT_EQ(result.result().method, "scotch+swap+guard");
  EXPECT_LE(result.result().metrics.largest_link_load, before.largest_link_load);
  for (const MethodResult& method : result.methods) {
    if (method.method.ends_with("+guard") || method.metrics.hop_bytes > result.result().metrics.hop_bytes)
      continue;
    EXPECT_GT(method.metrics.largest_link_load, before.largest_link_load) << method.method;
  }
}

TEST(Relief, SwapsHostsAndRanksUntilLinksCarryNoMoreThanAllowed) {
  const Pattern pattern = pattern_named("2d-5x5");
  for (const auto kind : {SimulatedKind::fat_tree, SimulatedKind::dragonfly, SimulatedKind::torus}) {
    const Fabric fabric = simulated_fabric({.kind = kind, .hosts = 7, .slots_per_host = 4});
    const MappingProblem problem{.traffic = pattern.traffic, .fabric = fabric, .grid = {}};
    Slots slots(28);
    std::iota(slots.begin(), slots.end(), 0);
    Random(3).shuffle(slots);
    const double allowed = *measure(problem, Placement::by_rank(25, 28)).largest_link_load;
    ASSERT_GT(*measure(problem, ranks_of(slots, 25)).largest_link_load, allowed);
    const auto better = relieved(problem, slots, allowed);
    ASSERT_TRUE(better);
    EXPECT_TRUE(std::ranges::is_permutation(*better, slots));
    EXPECT_LE(*measure(problem, ranks_of(*better, 25)).largest_link_load, allowed);
    EXPECT_FALSE(relieved(problem, slots, 0));
  }
}

TEST(Portfolio, GivesTheSameAnswerAgain) {
  const Pattern pattern = pattern_named("3d-6x6x6");
  const Fabric fabric = simulated_fabric({.hosts = 54, .slots_per_host = 4, .fragmented = true, .seed = 7});
  const MappingProblem problem{.traffic = pattern.traffic, .fabric = fabric, .grid = pattern.grid};
  const PortfolioResult first = place_by_portfolio(problem);
  const PortfolioResult again = place_by_portfolio(problem);
  ASSERT_EQ(first.methods.size(), again.methods.size());
  for (std::size_t i = 0; i < first.methods.size(); ++i) {
    EXPECT_EQ(first.methods[i].placement, again.methods[i].placement) << first.methods[i].method;
  }
}

TEST(Portfolio, DoesNotDependOnTheUnitOfBytes) {
  // Sums far beyond 2^31 and near 2^64 must not change what is chosen.
  const Fabric fabric = simulated_fabric({.hosts = 16, .slots_per_host = 4, .fragmented = true, .seed = 2});
  std::vector<std::vector<int>> chosen;
  for (const std::uint64_t unit : {std::uint64_t{1}, std::uint64_t{1} << 30, std::uint64_t{1} << 50}) {
    const std::vector<std::uint64_t> bytes = {4 * unit, 2 * unit, unit};
    const Traffic traffic =
        Traffic::from_stencil({.dims = {4, 4, 4}, .periodic = {}, .directions = face_directions(bytes)});
    const MappingProblem problem{.traffic = traffic, .fabric = fabric, .grid = {4, 4, 4}};
    chosen.push_back(place_by_portfolio(problem).result().placement.slots());
    EXPECT_LT(measure(problem, Placement(chosen.back(), 64)).hop_bytes,
              measure(problem, Placement::by_rank(64, 64)).hop_bytes);
  }
  EXPECT_EQ(chosen[0], chosen[1]);
  EXPECT_EQ(chosen[0], chosen[2]);
}

TEST(Portfolio, PlacesWhereManyRanksTalkToAll) {
  std::vector<TrafficEntry> entries;
  for (int from = 0; from < 64; ++from) {
    for (int to = 0; to < 64; ++to) entries.push_back({from, to, {1ULL << 50, 1}, {1ULL << 51, 1}});
  }
  const Traffic traffic(64, std::move(entries));
  const Fabric fabric = simulated_fabric({.hosts = 16, .slots_per_host = 4, .fragmented = true, .seed = 2});
  EXPECT_EQ(place_by_portfolio(problem_of(traffic, fabric)).result().method, "default");
}

TEST(Repair, MovesLightRanksFromFullTargetsToTheCheapestWithRoom) {
  // Rank 0 and 1 both got target 0; 1 talks more. Rank 0 talks to rank 2, which is near target 1. Rank 3 got none.
  const Traffic traffic(4, {{1, 3, {100, 1}, {}}, {0, 2, {10, 1}, {}}});
  const GuestGraph graph = guest_graph(traffic, 4, 9);
  const Targets targets{
      .count = 4, .capacity = {1, 1, 1, 1}, .costs = {0, 9, 9, 2, 9, 0, 1, 9, 9, 1, 0, 9, 2, 9, 9, 0}};
  EXPECT_EQ(repaired(graph, targets, {0, 0, 2, -1}), (std::vector<int>{1, 0, 2, 3}));
  const Targets hosts{.count = 2, .capacity = {1, 3}, .costs = {0, 5, 5, 0}};
  EXPECT_EQ(repaired(graph, hosts, {0, 0, 0, 0}), (std::vector<int>{1, 0, 1, 1}));
}

}  // namespace
}  // namespace selvage::topo
