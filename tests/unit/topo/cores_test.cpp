#include "mutation.hpp"
#include "sample_machine.hpp"

#include <selvage/topo/three_phases.hpp>

#include <gtest/gtest.h>

namespace selvage::topo {
namespace {

std::vector<std::vector<int>> cpus_of(const std::vector<Figure<CoreShare>>& placed) {
  std::vector<std::vector<int>> cpus;
  for (const auto& share : placed) cpus.push_back(cpus_of(share.value_or({})));
  return cpus;
}

TEST(Cores, CostByWhatTheyShare) {
  PhysicalHost host = host_with_cores("a", 8, 2, 4);
  std::vector<Core> cores = host.core_list.value();
  cores[7].numa_node = 2;
  cores[7].l3_cache.reset();
  cores[6].l3_cache.reset();
  host.core_list = Figure<std::vector<Core>>::known(cores, Source::file);
  const Fabric fabric = fabric_of_cores(host);
  EXPECT_EQ(fabric.slot_count(), 8);
  EXPECT_EQ(fabric.cost(0, 1), 1u) << "one L3 cache";
  EXPECT_EQ(fabric.cost(1, 2), 2u) << "one NUMA node";
  EXPECT_EQ(fabric.cost(4, 6), 2u) << "one NUMA node, a cache being unknown";
  EXPECT_EQ(fabric.cost(4, 7), 3u) << "one package";
  EXPECT_EQ(fabric.cost(3, 4), 4u) << "one host";
}

TEST(Cores, AreThoseThatRanksMayUse) {
  PhysicalHost host = host_with_cores("a", 4, 2, 4);
  std::vector<Core> cores = host.core_list.value();
  cores[1].cpus = {1, 5};
  cores[3].number.reset();
  host.core_list = Figure<std::vector<Core>>::known(cores, Source::hwloc);
  EXPECT_EQ(usable_cores(host).size(), 3u) << "the control group forbids one";
  host.usable_cpus = Figure<std::vector<int>>::known({2, 5}, Source::kernel);
  const std::vector<Core> usable = usable_cores(host);
  ASSERT_EQ(usable.size(), 2u);
  EXPECT_EQ(usable[0].cpus, (std::vector{5}));
  EXPECT_EQ(usable[1].cpus, (std::vector{2}));
}

TEST(Cores, AreSharedEvenlyAmongNeighbours) {
  const std::vector<Core> cores = usable_cores(host_with_cores("a", 8, 2, 4));
  const std::vector<CoreShare> shares = shares_of(cores, 3);
  ASSERT_EQ(shares.size(), 3u);
  EXPECT_EQ(selvage::topo::cpus_of(shares[0]), (std::vector{0, 1}));
  EXPECT_EQ(selvage::topo::cpus_of(shares[1]), (std::vector{2, 3, 4}));
  EXPECT_EQ(selvage::topo::cpus_of(shares[2]), (std::vector{5, 6, 7}));
  EXPECT_EQ(input_error([&] { (void)shares_of(cores, 9); }), "9 ranks can't share 8 usable cores");
  EXPECT_EQ(input_error([&] { (void)shares_of(cores, 0); }), "0 ranks can't share 8 usable cores");
}

TEST(Cores, SayWhyThereAreNone) {
  PhysicalHost host = host_named("a");
  host.core_list = Figure<std::vector<Core>>::unknown("built without hwloc");
  EXPECT_EQ(input_error([&] { (void)fabric_of_cores(host); }),
            "the cores of host a are unknown: built without hwloc");
  EXPECT_EQ(input_error([] { (void)fabric_of_cores("a", {}); }), "host a has no cores to place on");
}

/// Ranks 0 and 2, and 1 and 3, exchange much from host memory; the device's traffic runs crosswise.
Traffic pairs_apart() {
  return Traffic(
      4, {{0, 2, {1000, 1}, {}}, {1, 3, {1000, 1}, {}}, {0, 1, {1, 1}, {9000, 1}}, {2, 3, {}, {9000, 1}}});
}

/// Ranks that may run anywhere on one host of four cores, two per L3 cache.
Machine four_ranks(PhysicalHost host) {
  std::vector<RankPlace> ranks(4, rank_on(0, {0, 1, 2, 3}));
  return machine_of({std::move(host)}, ranks);
}

std::vector<Figure<CoreShare>> placed_on_cores(const Machine& machine, const Traffic& traffic,
                                               const Phase& phase = portfolio_phase) {
  const Fabric fabric = fabric_from_machine(machine);
  const MappingProblem problem{.traffic = traffic, .fabric = fabric, .grid = {}};
  return place_on_cores(problem, Placement::by_rank(traffic.rank_count(), fabric.slot_count()), machine,
                        phase);
}

TEST(SecondPhase, PutsRanksThatExchangeFromHostMemoryOnCoresOfOneCache) {
  const auto placed = placed_on_cores(four_ranks(host_with_cores("a", 4, 2, 4)), pairs_apart());
  const auto l3 = [&](int rank) { return placed.at(rank).value_or({}).at(0).l3_cache; };
  EXPECT_EQ(l3(0), l3(2));
  EXPECT_EQ(l3(1), l3(3));
  EXPECT_NE(l3(0), l3(1));
  EXPECT_EQ(placed[0].source(), Source::hwloc);
}

TEST(SecondPhase, CanBeReplaced) {
  const auto placed =
      placed_on_cores(four_ranks(host_with_cores("a", 4, 2, 4)), pairs_apart(), by_rank_phase);
  EXPECT_EQ(cpus_of(placed), (std::vector<std::vector<int>>{{0}, {1}, {2}, {3}}));
}

TEST(SecondPhase, GivesEachRankItsShareOfAllCores) {
  Machine machine = machine_of({host_with_cores("a", 4, 2, 4)}, {rank_on(0, {0}), rank_on(0, {0})});
  const Traffic traffic(2, {{0, 1, {10, 1}, {}}});
  EXPECT_EQ(cpus_of(placed_on_cores(machine, traffic)), (std::vector<std::vector<int>>{{0, 1}, {2, 3}}));
}

TEST(SecondPhase, CountsPretendedHostsOfOneMachineTogether) {
  std::vector<RankPlace> ranks(4, rank_on(0, {0, 1, 2, 3}));
  ranks[2].host = ranks[3].host = 1;
  const Machine machine = machine_of({host_with_cores("a", 4, 2, 4)}, ranks);
  const Traffic traffic(4, {{0, 1, {10, 1}, {}}, {2, 3, {10, 1}, {}}});
  EXPECT_EQ(cpus_of(placed_on_cores(machine, traffic)), (std::vector<std::vector<int>>{{0}, {1}, {2}, {3}}));
}

/// Four cores in two NUMA nodes and two GPUs, of which the first is near to the second node.
PhysicalHost host_with_a_far_gpu() {
  PhysicalHost host = host_with_gpus("a", 2, {});
  host.core_list = host_with_cores("a", 4, 2, 2).core_list;
  std::vector<Gpu> gpus = host.gpus.value();
  gpus[0].near_cpus = Figure<std::vector<int>>::known({2, 3}, Source::nvml);
  gpus[1].near_cpus = Figure<std::vector<int>>::known({0, 1}, Source::nvml);
  host.gpus = Figure<std::vector<Gpu>>::known(gpus, Source::nvml);
  return host;
}

TEST(SecondPhase, KeepsRanksNearTheirGpus) {
  const Machine machine = machine_of({host_with_a_far_gpu()},
                                     {rank_with_gpu(0, "0000:00:00.0"), rank_with_gpu(0, "0000:01:00.0")});
  const Traffic traffic(2, {{0, 1, {10, 1}, {}}});
  EXPECT_EQ(cpus_of(placed_on_cores(machine, traffic)), (std::vector<std::vector<int>>{{2, 3}, {0, 1}}));
  const Fabric fabric = fabric_from_machine(machine);
  const auto swapped =
      place_on_cores({.traffic = traffic, .fabric = fabric, .grid = {}}, Placement({1, 0}, 2), machine);
  EXPECT_EQ(cpus_of(swapped), (std::vector<std::vector<int>>{{0, 1}, {2, 3}}))
      << "a rank takes its slot's GPU";
}

TEST(SecondPhase, TakesFarCoresWhereTheNearOnesAreTooFew) {
  const Machine machine = machine_of(
      {host_with_a_far_gpu()},
      {rank_with_gpu(0, "0000:00:00.0"), rank_with_gpu(0, "0000:00:00.0"), rank_with_gpu(0, "0000:00:00.0")});
  const auto cpus = cpus_of(placed_on_cores(machine, Traffic(3, {})));
  EXPECT_EQ(cpus, (std::vector<std::vector<int>>{{0}, {1}, {2, 3}}));
}

TEST(SecondPhase, SaysWhyARankHasNoCores) {
  const Machine crowded = machine_of({host_with_cores("a", 1, 1, 1)}, {rank_on(0, {0}), rank_on(0, {0})});
  EXPECT_EQ(placed_on_cores(crowded, Traffic(2, {})).at(1).reason(), "2 ranks can't share 1 usable core");
  const Machine unknown = machine_of({host_named("b")}, {rank_on(0, {0})});
  EXPECT_EQ(placed_on_cores(unknown, Traffic(1, {})).at(0).reason(),
            "the cores of host b are unknown: not looked for");
  EXPECT_EQ(input_error([&] {
              const Fabric fabric = fabric_from_machine(unknown);
              const Traffic traffic(1, {});
              (void)place_on_cores({.traffic = traffic, .fabric = fabric, .grid = {}}, Placement({1}, 2),
                                   unknown);
            }),
            "a placement in 2 slots on a machine of 1 rank");
}

}  // namespace
}  // namespace selvage::topo
