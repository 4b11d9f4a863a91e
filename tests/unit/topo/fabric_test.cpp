#include "mutation.hpp"
#include "sample_machine.hpp"

#include <selvage/topo/fabric.hpp>
#include <selvage/topo/simulation.hpp>
#include <selvage/topo/three_phases.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace selvage::topo {
namespace {

TEST(Fabric, KnowsCostsWithinAndBetweenHosts) {
  const Fabric fabric({.description = "",
                       .hosts = {{"a", 2, {0, 3, 3, 0}}, {"b", 1, {}}},
                       .host_costs = {0, 9, 9, 0},
                       .slot_hosts = {0, 1, 0},
                       .network = nullptr,
                       .endpoints = {}});
  EXPECT_EQ(fabric.cost(0, 2), 3u);
  EXPECT_EQ(fabric.cost(0, 1), 9u);
  EXPECT_EQ(fabric.cost(1, 1), 0u);
  EXPECT_EQ(fabric.index_in_host(2), 1);
  EXPECT_EQ(fabric.slots_of(0), (std::vector<int>{0, 2}));
  EXPECT_EQ(fabric.largest_cost(), 9u);
  EXPECT_FALSE(fabric.is_flat());
  EXPECT_FALSE(fabric.has_equal_hosts());
}

TEST(Fabric, RefusesPartsThatContradictEachOther) {
  const auto message = [](FabricParts parts) { return input_error([&] { Fabric fabric(parts); }); };
  FabricParts parts{.description = "",
                    .hosts = {{"a", 1, {}}, {"b", 1, {}}},
                    .host_costs = {0, 5, 5, 0},
                    .slot_hosts = {},
                    .network = nullptr,
                    .endpoints = {}};
  FabricParts wrong = parts;
  wrong.host_costs[1] = 6;
  EXPECT_EQ(message(wrong), "hosts: from 1 to 0 costs 5, the way back 6");
  wrong = parts;
  wrong.host_costs = {0, 0, 0, 0};
  EXPECT_EQ(message(wrong), "hosts: the cost between 0 and 1 is 0, not 1 to 65535");
  wrong = parts;
  wrong.host_costs.pop_back();
  EXPECT_EQ(message(wrong), "hosts of 2: 3 costs");
  wrong = parts;
  wrong.slot_hosts = {0, 0};
  EXPECT_EQ(message(wrong), "host 0 has 1 slot, 2 were given");
  wrong = parts;
  wrong.slot_hosts = {0, 2};
  EXPECT_EQ(message(wrong), "slot 1 is on host 2 of 2");
  wrong = parts;
  wrong.hosts[0].slots = 0;
  EXPECT_EQ(message(wrong), "host a has 0 slots");
  EXPECT_EQ(message({}), "a fabric of 0 hosts; 1 to 8192 are possible");
}

TEST(Fabric, TakesCostsFromAMachine) {
  const Machine machine =
      machine_of({host_named("a"), host_named("b")},
                 {rank_with_gpu(0, "0000:01:00.0", "GPU-1"), rank_with_gpu(1, "0000:01:00.0", "GPU-2"),
                  rank_with_gpu(0, "0000:01:00.0", "GPU-1"), rank_with_gpu(0, "0000:02:00.0", "GPU-3")});
  const Fabric fabric = fabric_from_machine(machine, {.same_gpu = 1, .same_host = 4, .other_host = 30});
  EXPECT_EQ(fabric.cost(0, 2), 1u);
  EXPECT_EQ(fabric.cost(0, 3), 4u);
  EXPECT_EQ(fabric.cost(0, 1), 30u);
  EXPECT_EQ(fabric.host_of(1), 1);
  EXPECT_EQ(fabric.host(1).name, "b");
  ASSERT_NE(fabric.network(), nullptr);
  EXPECT_FALSE(fabric.is_flat());
}

TEST(Fabric, IsFlatOnOneHostWithAGpuPerRank) {
  const Machine machine = machine_of({host_named("a")}, {rank_with_gpu(0, "0000:01:00.0", "GPU-1"),
                                                         rank_with_gpu(0, "0000:02:00.0", "GPU-2")});
  EXPECT_TRUE(fabric_from_machine(machine).is_flat());
  EXPECT_THROW((void)fabric_from_machine(Machine()), Error);
}

std::vector<RankPlace> ranks_of_gpus(int count, int host = 0) {
  std::vector<RankPlace> ranks;
  for (int gpu = 0; gpu < count; ++gpu)
    ranks.push_back(rank_with_gpu(host, "0000:0" + std::to_string(gpu) + ":00.0"));
  return ranks;
}

TEST(Fabric, CostsOfGpusGoByWhatJoinsThem) {
  const PhysicalHost host =
      host_with_gpus("a", 5,
                     {{.first = 0, .second = 1, .level = GpuLevel::nvlink, .nvlinks = 4},
                      {.first = 0, .second = 2, .level = GpuLevel::nvlink, .nvlinks = 2},
                      {.first = 0, .second = 3, .level = GpuLevel::nvlink, .nvlinks = 1},
                      {.first = 1, .second = 2, .level = GpuLevel::pcie_switch},
                      {.first = 1, .second = 3, .level = GpuLevel::root_complex},
                      {.first = 1, .second = 4, .level = GpuLevel::numa},
                      {.first = 3, .second = 4, .level = GpuLevel::unknown}});
  const Fabric fabric = fabric_from_machine(machine_of({host}, ranks_of_gpus(5)));
  EXPECT_EQ(fabric.cost(0, 1), 2u);
  EXPECT_EQ(fabric.cost(0, 2), 4u) << "half as wide";
  EXPECT_EQ(fabric.cost(0, 3), 8u) << "a quarter, which is as far as a PCIe switch";
  EXPECT_EQ(fabric.cost(1, 2), 8u);
  EXPECT_EQ(fabric.cost(1, 3), 14u);
  EXPECT_EQ(fabric.cost(1, 4), 14u);
  EXPECT_EQ(fabric.cost(2, 3), 15u);
  EXPECT_EQ(fabric.cost(3, 4), 2u) << "unknown";
  const Fabric gpus = fabric_of_gpus(host);
  for (int a = 0; a < 5; ++a) {
    for (int b = 0; b < 5; ++b) EXPECT_EQ(gpus.cost(a, b), fabric.cost(a, b)) << a << ' ' << b;
  }
}

TEST(Fabric, CostsOneBoardLessThanOtherSwitches) {
  PhysicalHost host = host_with_gpus("a", 2, {{.first = 0, .second = 1, .level = GpuLevel::pcie_switch}});
  host.gpu_pairs[0].ancestor = Figure<CommonAncestor>::known(CommonAncestor::board, Source::nvml);
  EXPECT_EQ(fabric_of_gpus(host).cost(0, 1), 3u);
  host.gpu_pairs[0].ancestor = Figure<CommonAncestor>::known(CommonAncestor::pcie_switches, Source::nvml);
  EXPECT_EQ(fabric_of_gpus(host).cost(0, 1), 8u);
}

// Four P100s, of which two pairs have 40 GB/s and four 20 GB/s (Faraji, table 6.2): heavy neighbours take the wide pairs.
TEST(Fabric, LetsHeavyNeighboursTakeTheWidePairs) {
  std::vector<SampleLink> links;
  for (int a = 0; a < 4; ++a) {
    for (int b = a + 1; b < 4; ++b)
      links.push_back(
          {.first = a, .second = b, .level = GpuLevel::nvlink, .nvlinks = a / 2 == b / 2 ? 2 : 1});
  }
  const Fabric gpus = fabric_of_gpus(host_with_gpus("a", 4, links));
  const Traffic traffic(4, {{0, 2, {0, 0}, {1000, 1}}, {1, 3, {0, 0}, {1000, 1}}, {0, 1, {0, 0}, {10, 1}}});
  const Placement placed = portfolio_phase({.traffic = traffic, .fabric = gpus, .grid = {}});
  EXPECT_EQ(placed.slot_of(0) / 2, placed.slot_of(2) / 2);
  EXPECT_EQ(placed.slot_of(1) / 2, placed.slot_of(3) / 2);
}

TEST(Fabric, CountsLinksWhereTheirSpeedIsUnknown) {
  PhysicalHost host = host_with_gpus("a", 3,
                                     {{.first = 0, .second = 1, .level = GpuLevel::nvlink, .nvlinks = 6},
                                      {.first = 1, .second = 2, .level = GpuLevel::nvlink, .nvlinks = 3}});
  host.gpu_pairs[0].nvlink_gb_per_s = Figure<double>::unknown("Not Supported");
  const Fabric fabric = fabric_of_gpus(host);
  EXPECT_EQ(fabric.cost(0, 1), 2u);
  EXPECT_EQ(fabric.cost(1, 2), 4u);
}

TEST(Fabric, IsFlatBehindNvlinkSwitches) {
  const PhysicalHost host =
      host_with_gpus("a", 3,
                     {{.first = 0, .second = 1, .level = GpuLevel::nvswitch, .nvlinks = 18},
                      {.first = 0, .second = 2, .level = GpuLevel::nvswitch, .nvlinks = 18},
                      {.first = 1, .second = 2, .level = GpuLevel::nvswitch, .nvlinks = 18}});
  EXPECT_TRUE(fabric_from_machine(machine_of({host}, ranks_of_gpus(3))).is_flat());
}

TEST(Fabric, JoinsHostsOfOneNvlinkDomain) {
  const auto host_in = [](const std::string& name, const std::string& cluster, int clique) {
    PhysicalHost host = host_with_gpus(name, 1, {});
    std::vector<Gpu> gpus = host.gpus.value();
    gpus[0].fabric = Figure<GpuFabric>::known({.cluster = cluster, .clique = clique}, Source::nvml);
    host.gpus = Figure<std::vector<Gpu>>::known(gpus, Source::nvml);
    return host;
  };
  const Machine machine =
      machine_of({host_in("a", "01-2", 7), host_in("b", "01-2", 7), host_in("c", "01-2", 8),
                  host_in("d", "00-0", 0), host_in("e", "00-0", 0)},
                 {rank_on(0, {0}), rank_on(1, {0}), rank_on(2, {0}), rank_on(3, {0}), rank_on(4, {0})});
  const Fabric fabric = fabric_from_machine(machine);
  EXPECT_EQ(fabric.cost(0, 1), 2u);
  EXPECT_EQ(fabric.cost(0, 2), 20u);
  EXPECT_EQ(fabric.cost(3, 4), 20u) << "a cluster of zeros ends at its host";
}

TEST(Fabric, CostsHostsByTheSwitchesThatSlurmNamed) {
  const auto host_below = [](const std::string& name, std::vector<std::string> switches) {
    PhysicalHost host = host_named(name);
    host.switches = Figure<std::vector<std::string>>::known(std::move(switches), Source::environment);
    return host;
  };
  // The leaf "a" below "two" is another one than the "a" below "one".
  std::vector<PhysicalHost> hosts = {
      host_below("n0", {"top", "one", "a"}), host_below("n1", {"top", "one", "a"}),
      host_below("n2", {"top", "one", "b"}), host_below("n3", {"top", "two", "a"})};
  std::vector<RankPlace> ranks = {rank_on(0, {0}), rank_on(1, {0}), rank_on(2, {0}), rank_on(3, {0})};
  const Fabric fabric = fabric_from_machine(machine_of(hosts, ranks));
  EXPECT_EQ(fabric.cost(0, 1), 20u);
  EXPECT_EQ(fabric.cost(0, 2), 30u);
  EXPECT_EQ(fabric.cost(0, 3), 40u);
  EXPECT_EQ(fabric.network()->paths(0, 3, Routing::fixed).front().size(), 6u);
  hosts[2].switches = Figure<std::vector<std::string>>::unknown("SLURM_TOPOLOGY_ADDR is not set");
  EXPECT_EQ(fabric_from_machine(machine_of(hosts, ranks)).cost(0, 3), 20u)
      << "one switch where not all are known";
}

TEST(Fabric, RefusesMachinesThatAreTooLarge) {
  const std::vector<RankPlace> ranks(static_cast<std::size_t>(Fabric::max_hosts) + 1, rank_on(0, {0}));
  EXPECT_EQ(input_error([&] { (void)fabric_from_machine(machine_of({host_named("a")}, ranks)); }),
            "a host of 8193 ranks");
}

TEST(Fabric, RefusesGpusThatAreNotThere) {
  EXPECT_EQ(input_error([] { (void)fabric_of_gpus(host_named("a")); }),
            "host a has no GPUs to place on: not looked for");
  PhysicalHost without = host_named("a");
  without.gpus = Figure<std::vector<Gpu>>::known({}, Source::nvml);
  EXPECT_EQ(input_error([&] { (void)fabric_of_gpus(without); }), "host a has no GPUs to place on");
}

TEST(Machine, GivesGpusInTurnToRanksThatNamedNone) {
  const PhysicalHost host =
      host_with_gpus("a", 2, {{.first = 0, .second = 1, .level = GpuLevel::nvlink, .nvlinks = 1}});
  const Machine machine = with_gpus_in_turn(
      machine_of({host, host_named("b")},
                 {rank_on(0, {0}), rank_with_gpu(0, "0000:00:00.0"), rank_on(0, {1}), rank_on(1, {0})}));
  EXPECT_EQ(machine.place(0).gpu_pci_bus_id.value_or(""), "0000:00:00.0");
  EXPECT_EQ(machine.place(0).gpu_uuid.value_or(""), "a-GPU-0");
  EXPECT_EQ(machine.place(1).gpu_pci_bus_id.value_or(""), "0000:00:00.0");
  EXPECT_EQ(machine.place(2).gpu_pci_bus_id.value_or(""), "0000:00:00.0");
  EXPECT_FALSE(machine.place(3).gpu_pci_bus_id.is_known());
  EXPECT_EQ(with_gpus_in_turn(machine_of({host}, {rank_on(0, {0}), rank_on(0, {1})})).gpu_level(0, 1),
            GpuLevel::nvlink);
}

TEST(SimulatedFabric, CostsAsItsLevelsSay) {
  const Fabric tree = simulated_fabric({.kind = SimulatedKind::fat_tree, .hosts = 64, .slots_per_host = 4});
  EXPECT_EQ(tree.cost(0, 3), 1u);
  EXPECT_EQ(tree.cost(0, 4), 10u);
  EXPECT_EQ(tree.cost(0, 4 * 8), 20u);
  EXPECT_EQ(tree.cost(0, 4 * 32), 30u);
  const Fabric pcie = simulated_fabric({.kind = SimulatedKind::pcie_tree, .hosts = 2, .slots_per_host = 16});
  EXPECT_EQ(pcie.cost(0, 1), 10u);
  EXPECT_EQ(pcie.cost(0, 3), 25u);
  EXPECT_EQ(pcie.cost(0, 7), 42u);
  EXPECT_EQ(pcie.cost(0, 15), 45u);
  EXPECT_EQ(pcie.cost(0, 16), 60u);
  EXPECT_TRUE(simulated_fabric({.kind = SimulatedKind::flat, .hosts = 4, .slots_per_host = 4}).is_flat());
}

TEST(SimulatedFabric, DrawsTheSameHostsForTheSameSeed) {
  const SimulatedFabric options{
      .kind = SimulatedKind::torus, .hosts = 20, .slots_per_host = 2, .fragmented = true, .seed = 3};
  SimulatedFabric other = options;
  other.seed = 4;
  std::vector<int> first;
  std::vector<int> again;
  std::vector<int> different;
  const Fabric a = simulated_fabric(options);
  const Fabric b = simulated_fabric(options);
  const Fabric c = simulated_fabric(other);
  for (int host = 0; host < 20; ++host) {
    first.push_back(a.endpoint_of(host));
    again.push_back(b.endpoint_of(host));
    different.push_back(c.endpoint_of(host));
  }
  EXPECT_EQ(first, again);
  EXPECT_NE(first, different);
  EXPECT_TRUE(std::is_sorted(first.begin(), first.end()));
  // Known numbers: what one machine draws, every other one draws too.
  EXPECT_EQ(std::vector<int>(first.begin(), first.begin() + 5), (std::vector<int>{0, 9, 10, 11, 15}));
}

class SimulatedNetwork : public testing::TestWithParam<const char*> {};

TEST_P(SimulatedNetwork, HasPathsFromUplinkToDownlinkThatUseNoLinkTwice) {
  SimulatedFabric options = simulated_fabric_named(GetParam());
  options.hosts = 70;
  options.slots_per_host = 1;
  const Fabric fabric = simulated_fabric(options);
  const Network& network = *fabric.network();
  for (int a = 0; a < fabric.host_count(); a += 3) {
    for (int b = 0; b < fabric.host_count(); ++b) {
      if (a == b) continue;
      const auto fixed = network.paths(fabric.endpoint_of(a), fabric.endpoint_of(b), Routing::fixed);
      const auto adaptive = network.paths(fabric.endpoint_of(a), fabric.endpoint_of(b), Routing::adaptive);
      ASSERT_EQ(fixed.size(), 1u);
      ASSERT_GE(adaptive.size(), 1u);
      EXPECT_EQ(std::set<Path>(adaptive.begin(), adaptive.end()).size(), adaptive.size());
      for (const Path& path : adaptive) {
        EXPECT_EQ(std::set<int>(path.begin(), path.end()).size(), path.size());
        EXPECT_EQ(path.front(), fixed.front().front());
        EXPECT_EQ(path.back(), fixed.front().back());
        for (const int link : path) ASSERT_LT(static_cast<std::size_t>(link), network.links().size());
      }
      const auto back = network.paths(fabric.endpoint_of(b), fabric.endpoint_of(a), Routing::fixed);
      EXPECT_EQ(network.links()[back.front().back()].name.find("down") != std::string::npos, true);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, SimulatedNetwork,
                         testing::Values("fat-tree-fragmented", "dragonfly-fragmented", "torus-fragmented",
                                         "pcie-tree"));

TEST(SimulatedNetworks, AreAsLongAsTheirCostsSay) {
  const Fabric torus = simulated_fabric({.kind = SimulatedKind::torus, .hosts = 27, .slots_per_host = 1});
  for (int host = 1; host < 27; ++host) {
    const auto path = torus.network()->paths(0, host, Routing::fixed).front();
    EXPECT_EQ(10 * (path.size() - 2), torus.host_cost(0, host));
  }
  const Fabric tree = simulated_fabric({.kind = SimulatedKind::fat_tree, .hosts = 64, .slots_per_host = 1});
  for (int host = 1; host < 64; ++host) {
    const auto path = tree.network()->paths(0, host, Routing::fixed).front();
    EXPECT_EQ(10 * (path.size() / 2), tree.host_cost(0, host));
  }
}

TEST(SimulatedFabric, HasHostsOfManySlotsWithoutKeepingAllPairs) {
  const int slots = Fabric::max_slots;
  const Fabric flat = simulated_fabric({.kind = SimulatedKind::flat, .hosts = 1, .slots_per_host = slots});
  EXPECT_EQ(flat.cost(0, slots - 1), 1U);
  EXPECT_EQ(flat.cost(7, 7), 0U);
  EXPECT_TRUE(flat.is_flat());
  const Fabric fabric = simulated_fabric({.hosts = 2, .slots_per_host = slots / 2});
  EXPECT_EQ(fabric.smallest_cost(), 1U);
  EXPECT_EQ(fabric.largest_cost(), 10U);
  EXPECT_TRUE(fabric.has_equal_hosts());
  const Fabric switches = fabric_from_slurm("SwitchName=s Nodes=a,b\n", "s",
                                            {.slots_per_host = slots / 2, .nodes = {}, .costs = {}});
  EXPECT_EQ(switches.cost(0, 1), 1U);
}

TEST(SimulatedFabric, RefusesNumbersAndNamesOutOfRange) {
  EXPECT_NE(
      input_error([] {
        (void)simulated_fabric({.kind = SimulatedKind::pcie_tree, .hosts = 100, .slots_per_host = 1000});
      }),
      "");
  EXPECT_NE(input_error([] { (void)simulated_fabric({.hosts = 0}); }), "");
  EXPECT_NE(input_error([] { (void)simulated_fabric({.hosts = 8192, .slots_per_host = 1000}); }), "");
  EXPECT_NE(
      input_error([] { (void)simulated_fabric({.kind = SimulatedKind::pcie_tree, .fragmented = true}); }),
      "");
  EXPECT_EQ(input_error([] { (void)simulated_fabric_named("fat-trea"); }),
            "there is no simulated fabric 'fat-trea', did you mean 'fat-tree'?; there are flat, fat-tree, "
            "dragonfly, "
            "torus, pcie-tree, and -fragmented ones");
}

}  // namespace
}  // namespace selvage::topo
