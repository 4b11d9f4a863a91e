#include "machine/detect/records.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace selvage::topo {
namespace {

/// hwloc describes a made-up host for the length of a test.
class SyntheticHost {
 public:
  explicit SyntheticHost(const char* description) { setenv("HWLOC_SYNTHETIC", description, 1); }
  ~SyntheticHost() { unsetenv("HWLOC_SYNTHETIC"); }
};

TEST(DetectHwloc, CountsWhatTheHostHas) {
  const SyntheticHost host("pack:2 [numa(memory=1073741824)] l3:2(size=4194304) core:3 pu:2");
  const HostInventory inventory = inventory_from_hwloc();
  EXPECT_EQ(inventory.packages, Figure<int>::known(2, Source::hwloc));
  EXPECT_EQ(inventory.cores, Figure<int>::known(12, Source::hwloc));
  EXPECT_EQ(inventory.cpus, Figure<int>::known(24, Source::hwloc));
  EXPECT_EQ(inventory.numa_nodes, Figure<int>::known(2, Source::hwloc));
  EXPECT_EQ(inventory.l3_caches, Figure<int>::known(4, Source::hwloc));
  EXPECT_EQ(inventory.l3_bytes.value_or(0), std::uint64_t{4} * 4194304);
  EXPECT_EQ(inventory.memory_bytes.value_or(0), std::uint64_t{2} * 1073741824);
}

TEST(DetectHwloc, MapsHardwareThreadsToCoresAndNumaNodes) {
  const SyntheticHost host("pack:2 [numa(memory=1073741824)] core:2 pu:2");
  const HostInventory inventory = inventory_from_hwloc();
  ASSERT_EQ(inventory.threads.size(), 8u);
  for (const HardwareThread& thread : inventory.threads) {
    EXPECT_EQ(thread.core, thread.cpu / 2);
    EXPECT_EQ(thread.numa_node, thread.cpu / 4);
  }
}

TEST(DetectHwloc, ListsCoresAndWhatTheyShare) {
  const SyntheticHost host("pack:2 [numa(memory=1073741824)] l3:2(size=4194304) core:2 pu:2");
  const Figure<std::vector<Core>> cores = inventory_from_hwloc().core_list;
  ASSERT_TRUE(cores.is_known()) << cores.reason();
  ASSERT_EQ(cores.value().size(), 8u);
  for (int i = 0; i < 8; ++i) {
    const Core expected{
        .number = i, .cpus = {2 * i, 2 * i + 1}, .package = i / 4, .numa_node = i / 4, .l3_cache = i / 2};
    EXPECT_EQ(cores.value()[static_cast<std::size_t>(i)], expected) << i;
  }
}

TEST(DetectHwloc, LeavesOutWhatCoresDoNotShare) {
  const SyntheticHost host("core:2 pu:1");
  const Core core = inventory_from_hwloc().core_list.value_or({}).at(1);
  EXPECT_EQ(core.cpus, (std::vector{1}));
  EXPECT_EQ(core.l3_cache, std::nullopt);
}

TEST(DetectHwloc, SaysWhatAHostLacks) {
  const SyntheticHost host("core:2 pu:1");
  const HostInventory inventory = inventory_from_hwloc();
  EXPECT_EQ(inventory.l3_caches.reason(), "hwloc shows no L3Cache");
  EXPECT_FALSE(inventory.l3_bytes.is_known());
}

TEST(DetectHwloc, FindsThisProcessAmongTheHardwareThreads) {
  const HostInventory inventory = inventory_from_hwloc();
  const auto affinity = scheduler_affinity();
  ASSERT_TRUE(affinity.is_known()) << affinity.reason();
  ASSERT_FALSE(affinity.value().empty());
  EXPECT_GE(inventory.threads.size(), affinity.value().size());
}

}  // namespace
}  // namespace selvage::topo
