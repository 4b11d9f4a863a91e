#include "mutation.hpp"

#include <selvage/topo/pattern.hpp>
#include <selvage/topo/rank_files.hpp>
#include <selvage/topo/simulation.hpp>
#include <selvage/topo/three_phases.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace selvage::topo {
namespace {

PlacementPlan sample_plan() {
  return {.hosts = {{"n0", 2}, {"n1", 2}}, .ranks = {{1, 0}, {0, 1}, {0, 0}, {1, 1}}};
}

constexpr const char* sample_json = R"({"selvage_placement_version": 1, "hosts": [{"name": "n0", "slots": 2},
  {"name": "n1", "slots": 2}], "ranks": [{"host": 1, "slot": 0}, {"host": 0, "slot": 1}]})";

TEST(RankFiles, AreWhatLaunchersRead) {
  const PlacementPlan plan = sample_plan();
  EXPECT_EQ(openmpi_rank_file(plan),
            "rank 0=n1 slot=0\nrank 1=n0 slot=1\nrank 2=n0 slot=0\nrank 3=n1 slot=1\n");
  EXPECT_EQ(slurm_host_file(plan), "n1\nn0\nn0\nn1\n");
  EXPECT_EQ(mpich_rank_order(plan), "2,1,0,3\n");
  EXPECT_EQ(gpu_list(plan), "0\n1\n0\n1\n");
}

TEST(RankFiles, NameCoresWhereTheyAreKnown) {
  PlacementPlan plan = sample_plan();
  const Core far{.number = 7, .cpus = {9, 25}, .package = {}, .numa_node = {}, .l3_cache = {}};
  const Core near{.number = 6, .cpus = {8, 24}, .package = {}, .numa_node = {}, .l3_cache = {}};
  const auto both = Figure<CoreShare>::known({near, far}, Source::hwloc);
  const auto one = Figure<CoreShare>::known({far}, Source::hwloc);
  add_cores(plan, {both, one, both, one});
  EXPECT_EQ(openmpi_rank_file(plan),
            "rank 0=n1 slot=6-7\nrank 1=n0 slot=7\nrank 2=n0 slot=6-7\nrank 3=n1 slot=7\n");
  EXPECT_EQ(core_list(plan), "8-9,24-25\n9,25\n8-9,24-25\n9,25\n");
}

TEST(RankFiles, SayWhyARankHasNoCores) {
  PlacementPlan plan = sample_plan();
  const Core core{.number = 0, .cpus = {0}, .package = {}, .numa_node = {}, .l3_cache = {}};
  const auto known = Figure<CoreShare>::known({core}, Source::hwloc);
  add_cores(plan, {known, Figure<CoreShare>::unknown("no hwloc"), known, known});
  EXPECT_EQ(input_error([&] { (void)core_list(plan); }), "the placement names no cores for rank 1: no hwloc");
  EXPECT_EQ(input_error([&] { (void)core_list(sample_plan()); }), "the placement names no cores for rank 0");
}

TEST(RankFiles, RefuseAnMpichOrderWithGaps) {
  PlacementPlan plan = sample_plan();
  plan.ranks.erase(plan.ranks.begin() + 2);
  EXPECT_EQ(input_error([&] { (void)mpich_rank_order(plan); }),
            "an MPICH rank order fills host after host, but n0 has 1 rank in 2 slots");
}

TEST(RankFiles, MakeAnMpichOrderWhereTheLastHostsAreFree) {
  PlacementPlan plan = sample_plan();
  plan.ranks = {{1, 1}, {0, 1}, {0, 0}};
  plan.hosts.push_back({"n2", 2});
  EXPECT_EQ(mpich_rank_order(plan), "2,1,0\n");
}

TEST(RankFiles, FollowTheSlotsOfAFabric) {
  const Fabric fabric({.description = "",
                       .hosts = {{"a", 2, {}}, {"b", 1, {}}},
                       .host_costs = {0, 5, 5, 0},
                       .slot_hosts = {0, 1, 0},
                       .network = nullptr,
                       .endpoints = {}});
  EXPECT_EQ(openmpi_rank_file(plan_of(fabric, Placement({2, 1}, 3))), "rank 0=a slot=1\nrank 1=b slot=0\n");
}

TEST(PlacementJson, IsReadAndChecked) {
  const PlacementPlan plan = plan_from_json(sample_json, "p");
  EXPECT_EQ(slurm_host_file(plan), "n1\nn0\n");
  const auto message = [](const std::string& from, const std::string& to) {
    std::string text = sample_json;
    text.replace(text.find(from), from.size(), to);
    return input_error([&] { (void)plan_from_json(text, "p.json"); });
  };
  EXPECT_EQ(message("{", ""), "p.json: it is not JSON");
  EXPECT_EQ(message("version\": 1", "version\": 2"), "p.json: its version is not 1");
  EXPECT_EQ(message("\"hosts\"", "\"hsots\""), "p.json: the placement has no 'hosts'");
  EXPECT_EQ(message("\"host\": 1", "\"host\": 2"),
            "p.json: 'host' of rank 0 is not a whole number from 0 to 1");
  EXPECT_EQ(message("\"slot\": 0", "\"slot\": -1"),
            "p.json: 'slot' of rank 0 is not a whole number from 0 to 1");
  EXPECT_EQ(message("\"host\": 0, \"slot\": 1", "\"host\": 1, \"slot\": 0"),
            "p.json: rank 1 is in a slot that is taken");
  EXPECT_EQ(message("\"n0\"", "\"n0\\nrank 9=x\""), "p.json: the name of host 0 is not one");
  EXPECT_EQ(message("\"slots\": 2", "\"slots\": 1.5"),
            "p.json: 'slots' of host 0 is not a whole number from 1 to 131072");
  EXPECT_EQ(message("\"slots\": 2", "\"slots\": 0"),
            "p.json: 'slots' of host 0 is not a whole number from 1 to 131072");
  EXPECT_EQ(input_error([] {
              (void)plan_from_json(
                  R"({"selvage_placement_version": 1, "hosts": [], "ranks": [{"host": 0, "slot": 0}]})",
                  "p.json");
            }),
            "p.json: it names no hosts");
  EXPECT_EQ(input_error([] { (void)plan_from_json("[]", "p.json"); }), "p.json: it is not a JSON object");
}

TEST(PlacementJson, CarriesCores) {
  const auto plan_with = [](const std::string& more) {
    return plan_from_json(R"({"selvage_placement_version": 1, "hosts": [{"name": "n0", "slots": 1}],
      "ranks": [{"host": 0, "slot": 0, )" +
                              more + "}]}",
                          "p.json");
  };
  const PlacementPlan plan = plan_with(R"("cores": [1, 2], "hardware_threads": [2, 4])");
  EXPECT_EQ(openmpi_rank_file(plan), "rank 0=n0 slot=1-2\n");
  EXPECT_EQ(core_list(plan), "2,4\n");
  EXPECT_EQ(input_error([&] { (void)plan_with(R"("cores": 1)"); }),
            "p.json: 'cores' of rank 0 is not a list");
  for (const char* numbers : {"[2, 1]", "[1, 1]", "[-1]", "[1.5]", "[99999999]", "[\"1\"]"}) {
    EXPECT_EQ(input_error([&] { (void)plan_with("\"cores\": " + std::string(numbers)); }),
              "p.json: 'cores' of rank 0 is not a list of ascending numbers")
        << numbers;
  }
}

TEST(PlacementJson, SurvivesMutations) {
  expect_only_input_errors(sample_json, [](const std::string& text) { (void)plan_from_json(text, "p"); });
}

/// Four ranks: host traffic pairs 0-1 and 2-3, device traffic pairs 0-3 and 1-2.
Traffic crossed_traffic() {
  return Traffic(4, {{0, 1, {100, 1}, {}}, {2, 3, {100, 1}, {}}, {0, 3, {}, {100, 1}}, {1, 2, {}, {100, 1}}});
}

/// Four slots in one host, 0 beside 2 and 1 beside 3.
Fabric four_slots() {
  return Fabric({.description = "",
                 .hosts = {{"a", 4, {0, 9, 1, 9, 9, 0, 9, 1, 1, 9, 0, 9, 9, 1, 9, 0}}},
                 .host_costs = {0},
                 .slot_hosts = {},
                 .network = nullptr,
                 .endpoints = {}});
}

TEST(ThreePhases, BindCoresByHostTrafficAndGpusByDeviceTraffic) {
  const Traffic traffic = crossed_traffic();
  const Fabric host = simulated_fabric({.kind = SimulatedKind::flat, .hosts = 1, .slots_per_host = 4});
  const Fabric slots = four_slots();
  const ThreePhasePlacement placed =
      place_in_three_phases({.traffic = traffic, .fabric = host, .grid = {}}, slots, slots);
  EXPECT_EQ(slots.cost(placed.core_of_rank[0], placed.core_of_rank[1]), 1u);
  EXPECT_EQ(slots.cost(placed.core_of_rank[2], placed.core_of_rank[3]), 1u);
  EXPECT_EQ(slots.cost(placed.gpu_of_rank[0], placed.gpu_of_rank[3]), 1u);
  EXPECT_EQ(slots.cost(placed.gpu_of_rank[1], placed.gpu_of_rank[2]), 1u);
}

TEST(ThreePhases, ChooseHostsByBothKindsOfTraffic) {
  const Traffic traffic(4, {{0, 2, {60, 1}, {60, 1}}, {1, 3, {60, 1}, {60, 1}}, {0, 1, {100, 1}, {}}});
  const Fabric hosts = simulated_fabric({.hosts = 2, .slots_per_host = 2});
  const Fabric slots = simulated_fabric({.kind = SimulatedKind::flat, .hosts = 1, .slots_per_host = 2});
  const ThreePhasePlacement placed =
      place_in_three_phases({.traffic = traffic, .fabric = hosts, .grid = {}}, slots, slots);
  EXPECT_EQ(placed.host_of_rank[0], placed.host_of_rank[2]);
  EXPECT_EQ(placed.host_of_rank[1], placed.host_of_rank[3]);
  EXPECT_NE(placed.host_of_rank[0], placed.host_of_rank[1]);
}

TEST(ThreePhases, ReplaceEachPhaseByItself) {
  const Traffic traffic = crossed_traffic();
  const Fabric host = simulated_fabric({.kind = SimulatedKind::flat, .hosts = 1, .slots_per_host = 4});
  const Fabric slots = four_slots();
  const MappingProblem problem{.traffic = traffic, .fabric = host, .grid = {}};
  const ThreePhasePlacement cores_only =
      place_in_three_phases(problem, slots, slots, {.gpu_to_process = by_rank_phase});
  EXPECT_EQ(cores_only.gpu_of_rank, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_NE(cores_only.core_of_rank, (std::vector<int>{0, 1, 2, 3}));
  const ThreePhasePlacement gpus_only =
      place_in_three_phases(problem, slots, slots, {.process_to_core = by_rank_phase});
  EXPECT_EQ(gpus_only.core_of_rank, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_NE(gpus_only.gpu_of_rank, (std::vector<int>{0, 1, 2, 3}));

  const Fabric hosts = simulated_fabric({.hosts = 2, .slots_per_host = 2});
  const Fabric two = simulated_fabric({.kind = SimulatedKind::flat, .hosts = 1, .slots_per_host = 2});
  const auto last_rank_first = [](const MappingProblem& /*problem*/) { return Placement({3, 2, 1, 0}, 4); };
  const ThreePhasePlacement reversed = place_in_three_phases(
      {.traffic = traffic, .fabric = hosts, .grid = {}}, two, two, {.process_to_host = last_rank_first});
  EXPECT_EQ(reversed.host_of_rank, (std::vector<int>{1, 1, 0, 0}));
}

TEST(ThreePhases, ChooseGpusInsideHosts) {
  const Traffic traffic(4, {{0, 3, {}, {100, 1}}, {1, 2, {}, {100, 1}}, {0, 1, {900, 1}, {}}});
  const Fabric slots = four_slots();
  const Placement in_one =
      place_on_gpus({.traffic = traffic, .fabric = slots, .grid = {}}, Placement::by_rank(4, 4));
  EXPECT_EQ(slots.cost(in_one.slot_of(0), in_one.slot_of(3)), 1U);
  EXPECT_EQ(slots.cost(in_one.slot_of(1), in_one.slot_of(2)), 1U);

  // Two hosts with the same four slots, of which ranks 0 and 3 take two each that are far from each other.
  const FabricHost host = slots.host(0);
  const Fabric hosts({.description = "",
                      .hosts = {host, host},
                      .host_costs = {0, 20, 20, 0},
                      .slot_hosts = {},
                      .network = nullptr,
                      .endpoints = {}});
  const Placement far({4, 0, 1, 5}, 8);
  const Placement near = place_on_gpus({.traffic = traffic, .fabric = hosts, .grid = {}}, far);
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_EQ(hosts.host_of(near.slot_of(rank)), hosts.host_of(far.slot_of(rank))) << rank;
  EXPECT_EQ(hosts.cost(near.slot_of(0), near.slot_of(3)), 1U);
  EXPECT_EQ(hosts.cost(near.slot_of(1), near.slot_of(2)), 1U);
}

TEST(TransferTime, SharesLinksFairly) {
  // Two flows leave x at half its rate; when the small one ends, the large one has all of it.
  const Fabric fabric = fabric_from_slurm("SwitchName=a Nodes=x,y,z\n", "t");
  const Traffic both(3, {{0, 1, {100, 1}, {}}, {0, 2, {300, 1}, {}}});
  const MappingProblem problem{.traffic = both, .fabric = fabric, .grid = {}};
  EXPECT_NEAR(*transfer_time(problem, Placement::by_rank(3, 3)), 400, 8);
  const Traffic apart(3, {{0, 1, {100, 1}, {}}, {1, 2, {300, 1}, {}}, {2, 0, {50, 1}, {}}});
  EXPECT_NEAR(*transfer_time({.traffic = apart, .fabric = fabric, .grid = {}}, Placement::by_rank(3, 3)), 300,
              6);
  EXPECT_EQ(transfer_time({.traffic = apart, .fabric = fabric_from_scotch_target("cmplt 3", "t"), .grid = {}},
                          Placement::by_rank(3, 3)),
            std::nullopt);
}

TEST(Simulation, FindsWhatThePortfolioMustGainOnAFragmentedFatTree) {
  const SimulationResult result =
      simulate({.pattern = "3d-8x8x8", .fabric = "fat-tree-fragmented", .seeds = 2});
  const MethodFigures& portfolio = result.methods.back();
  EXPECT_EQ(portfolio.method, "portfolio");
  EXPECT_EQ(result.ranks, 512);
  for (const MethodFigures& each : result.methods) EXPECT_TRUE(each.is_verified) << each.method;
  EXPECT_LE(portfolio.hop_bytes, has_scotch() ? 83 : 90);
  EXPECT_LE(portfolio.most_hop_bytes, 100);
  EXPECT_LE(*portfolio.most_link_load, 100);
  const auto random = std::find_if(result.methods.begin(), result.methods.end(),
                                   [](const auto& method) { return method.method == "random"; });
  EXPECT_GT(random->least_hop_bytes, 100);
}

TEST(Simulation, SaysThatASymmetricWraparoundGainsNothing) {
  const SimulationResult result =
      simulate({.pattern = "2d-4x4-wrap", .fabric = "pcie-tree", .slots_per_host = 16});
  EXPECT_EQ(result.methods.back().hop_bytes, 100);
  EXPECT_EQ(result.remark, "nothing gained: no method gains 3 %");
}

TEST(Simulation, HasSuitesWithoutRepeatedCases) {
  for (const std::string& name : suite_names()) {
    std::set<std::string> seen;
    for (const SimulationRequest& request : suite_named(name, 20, Routing::fixed)) {
      EXPECT_TRUE(seen.insert(request.pattern + " " + request.fabric).second) << request.pattern;
      (void)pattern_named(request.pattern);
      (void)simulated_fabric_named(request.fabric);
    }
  }
  EXPECT_EQ(
      input_error([] { (void)suite_named("papre", 1, Routing::fixed); }),
      "there is no suite 'papre', did you mean 'paper'?; there are paper, stencils, large, md, quick, all");
}

}  // namespace
}  // namespace selvage::topo
