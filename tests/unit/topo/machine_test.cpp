#include "sample_machine.hpp"

#include <selvage/error.hpp>
#include <selvage/topo/machine.hpp>

#include <gtest/gtest.h>

namespace selvage::topo {
namespace {

template <typename Call>
void expect_usage_error(Call call) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
  }
}

TEST(Machine, ListsTheRanksOfEachHost) {
  const Machine machine = machine_of({host_named("a"), host_named("b")},
                                     {rank_on(0, {0}), rank_on(1, {0}), rank_on(0, {1}), rank_on(1, {1})});
  EXPECT_EQ(machine.rank_count(), 4);
  EXPECT_EQ(machine.host_count(), 2);
  EXPECT_EQ(machine.ranks_of_host(0), (std::vector{0, 2}));
  EXPECT_EQ(machine.physical_hosts()[1].ranks, (std::vector{1, 3}));
  EXPECT_EQ(machine.host_of(3), 1);
  EXPECT_EQ(machine.place(3).rank_in_host, 1);
  EXPECT_TRUE(machine.same_host(0, 2));
  EXPECT_FALSE(machine.same_host(0, 1));
  EXPECT_FALSE(machine.same_physical_host(0, 1));
}

TEST(Machine, TellsLogicalFromPhysicalHosts) {
  std::vector<RankPlace> ranks = {rank_on(0, {0}), rank_on(0, {1})};
  ranks[1].host = 1;
  const Machine machine = machine_of({host_named("a")}, ranks);
  EXPECT_EQ(machine.host_count(), 2);
  EXPECT_FALSE(machine.same_host(0, 1));
  EXPECT_TRUE(machine.same_physical_host(0, 1));
  EXPECT_EQ(machine.place(1).rank_in_host, 0);
}

TEST(Machine, RefusesIndicesOutOfRange) {
  const Machine machine = machine_of({host_named("a")}, {rank_on(0, {0})});
  expect_usage_error([&] { (void)machine.host_of(1); });
  expect_usage_error([&] { (void)machine.host_of(-1); });
  expect_usage_error([&] { (void)machine.same_gpu(0, 1); });
  expect_usage_error([&] { (void)machine.ranks_of_host(1); });
  expect_usage_error([&] { (void)machine.ranks_exceed_cores(1); });
}

TEST(Machine, RefusesPartsThatDoNotFitTogether) {
  expect_usage_error([] { (void)machine_of({host_named("a")}, {rank_on(1, {0})}); });
  expect_usage_error([] { (void)machine_of({host_named("a"), host_named("b")}, {rank_on(0, {0})}); });
  std::vector<RankPlace> gap = {rank_on(0, {0}), rank_on(0, {0})};
  gap[0].host = gap[1].host = 1;
  expect_usage_error([&] { (void)machine_of({host_named("a")}, gap); });
  std::vector<RankPlace> spanning = {rank_on(0, {0}), rank_on(1, {0})};
  spanning[1].host = 0;
  expect_usage_error([&] { (void)machine_of({host_named("a"), host_named("b")}, spanning); });
}

TEST(Machine, KnowsAGpuByItsUuidAcrossHosts) {
  const Machine machine =
      machine_of({host_named("a"), host_named("b")},
                 {rank_with_gpu(0, "0000:1b:00.0", "GPU-1"), rank_with_gpu(1, "0000:1b:00.0", "GPU-2"),
                  rank_with_gpu(1, "0000:2b:00.0", "GPU-1")});
  EXPECT_FALSE(machine.same_gpu(0, 1));
  EXPECT_TRUE(machine.same_gpu(0, 2));
}

TEST(Machine, KnowsAGpuByHostAndBusIdWithoutUuid) {
  const Machine machine =
      machine_of({host_named("a"), host_named("b")},
                 {rank_with_gpu(0, "0000:1b:00.0"), rank_with_gpu(0, "0000:1b:00.0", "GPU-1"),
                  rank_with_gpu(1, "0000:1b:00.0"), rank_with_gpu(0, "0000:2b:00.0")});
  EXPECT_TRUE(machine.same_gpu(0, 1));
  EXPECT_FALSE(machine.same_gpu(0, 2));
  EXPECT_FALSE(machine.same_gpu(0, 3));
}

TEST(Machine, SharesNoUnknownGpu) {
  const Machine machine = machine_of({host_named("a")}, {rank_on(0, {0}), rank_on(0, {1})});
  EXPECT_FALSE(machine.same_gpu(0, 1));
  EXPECT_FALSE(machine.same_gpu(0, 0));
}

TEST(Machine, KnowsHowTheGpusOfTwoRanksReachEachOther) {
  PhysicalHost host = host_named("a");
  std::vector<Gpu> gpus(3);
  gpus[0].pci_bus_id = "0000:1b:00.0";
  gpus[1].pci_bus_id = "0000:2b:00.0";
  gpus[2].pci_bus_id = "0000:3b:00.0";
  host.gpus = Figure<std::vector<Gpu>>::known(gpus, Source::nvml);
  host.gpu_pairs.resize(1);
  host.gpu_pairs[0].first = "0000:1b:00.0";
  host.gpu_pairs[0].second = "0000:2b:00.0";
  host.gpu_pairs[0].level = GpuLevel::nvlink;
  const Machine machine =
      machine_of({host, host_named("b")}, {rank_with_gpu(0, "0000:1b:00.0"), rank_with_gpu(0, "0000:2b:00.0"),
                                           rank_with_gpu(0, "0000:1b:00.0"), rank_with_gpu(0, "0000:3b:00.0"),
                                           rank_on(0, {0}), rank_with_gpu(1, "0000:2b:00.0")});
  ASSERT_NE(machine.gpu_of(1), nullptr);
  EXPECT_EQ(machine.gpu_of(1)->pci_bus_id, "0000:2b:00.0");
  EXPECT_EQ(machine.gpu_of(4), nullptr);
  EXPECT_EQ(machine.gpu_of(5), nullptr);
  EXPECT_EQ(machine.gpu_level(0, 1), GpuLevel::nvlink);
  EXPECT_EQ(machine.gpu_level(1, 0), GpuLevel::nvlink);
  EXPECT_EQ(machine.gpu_level(0, 2), GpuLevel::same_gpu);
  EXPECT_EQ(machine.gpu_level(0, 3), GpuLevel::unknown);
  EXPECT_EQ(machine.gpu_level(0, 4), GpuLevel::unknown);
  EXPECT_EQ(machine.gpu_level(0, 5), GpuLevel::unknown);
}

TEST(Oversubscription, CountsTheUnionOfTheRanksProcessors) {
  const Machine apart = machine_of({host_named("a")}, {rank_on(0, {0}), rank_on(0, {1})});
  EXPECT_FALSE(apart.ranks_exceed_cores(0));
  const Machine together = machine_of({host_named("a")}, {rank_on(0, {1}), rank_on(0, {1})});
  EXPECT_TRUE(together.ranks_exceed_cores(0));
}

TEST(Oversubscription, IsAskedForEachPhysicalHost) {
  const Machine machine = machine_of({host_named("a", "boot 1"), host_named("b", "boot 2")},
                                     {rank_on(0, {0}), rank_on(0, {0}), rank_on(1, {0})});
  EXPECT_TRUE(machine.ranks_exceed_cores(1));
  EXPECT_FALSE(machine.ranks_exceed_cores(2));
}

TEST(Oversubscription, CountsLogicalHostsOfOnePhysicalHostTogether) {
  std::vector<RankPlace> ranks = {rank_on(0, {0}), rank_on(0, {0})};
  ranks[1].host = 1;
  EXPECT_TRUE(machine_of({host_named("a")}, ranks).ranks_exceed_cores(0));
}

TEST(Oversubscription, CountsHostsThatAreOneKernelTogether) {
  const Machine machine =
      machine_of({host_named("a", "boot 1"), host_named("a", "boot 1")}, {rank_on(0, {0}), rank_on(1, {0})});
  EXPECT_TRUE(machine.ranks_exceed_cores(0));
}

TEST(Oversubscription, HeedsTheControlGroupsQuota) {
  std::vector<RankPlace> ranks = {rank_on(0, {0, 1, 2, 3}), rank_on(0, {0, 1, 2, 3})};
  for (auto& rank : ranks) rank.cpu_quota = Figure<double>::known(2.0, Source::kernel);
  EXPECT_FALSE(machine_of({host_named("a")}, ranks).ranks_exceed_cores(0));
  for (auto& rank : ranks) rank.cpu_quota = Figure<double>::known(1.5, Source::kernel);
  EXPECT_TRUE(machine_of({host_named("a")}, ranks).ranks_exceed_cores(0));
}

TEST(Oversubscription, IsAssumedWhereProcessorsAreUnknown) {
  EXPECT_TRUE(machine_of({host_named("a")}, {RankPlace{}}).ranks_exceed_cores(0));
}

}  // namespace
}  // namespace selvage::topo
