#include "machine/detect/records.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace selvage::topo {
namespace {

/// What the stand-in for NVML tells of a pretended host; see fake_nvml.cpp.
GpuInventory inventory_of(const char* host, const char* library = SELVAGE_FAKE_NVML) {
  setenv("FAKE_NVML", host, 1);
  GpuInventory inventory = gpus_from_nvml(library);
  unsetenv("FAKE_NVML");
  return inventory;
}

TEST(DetectNvml, NamesTheMissingLibraryAsTheReason) {
  const auto gpus = gpus_from_nvml("libselvage-has-no-such-library.so.1").gpus;
  ASSERT_FALSE(gpus.is_known());
  EXPECT_NE(gpus.reason().find("libselvage-has-no-such-library.so.1"), std::string::npos) << gpus.reason();
}

TEST(DetectNvml, NamesTheMissingFunctionOfAnUnsuitableLibrary) {
  const auto gpus = gpus_from_nvml("libc.so.6").gpus;
  ASSERT_FALSE(gpus.is_known());
  EXPECT_NE(gpus.reason().find("nvmlInit_v2"), std::string::npos) << gpus.reason();
}

TEST(DetectNvml, ListsEachGpuWithNormalizedBusId) {
  const auto gpus = gpus_from_nvml(SELVAGE_FAKE_NVML).gpus;
  ASSERT_TRUE(gpus.is_known()) << gpus.reason();
  EXPECT_EQ(gpus.source(), Source::nvml);
  ASSERT_EQ(gpus.value().size(), 2u);
  EXPECT_EQ(gpus.value()[0].name, "Pretended GPU");
  EXPECT_EQ(gpus.value()[0].uuid, "GPU-fake-0");
  EXPECT_EQ(gpus.value()[0].pci_bus_id, "feed:1b:00.0");
  EXPECT_EQ(gpus.value()[1].pci_bus_id, "feed:2b:00.0");
  EXPECT_EQ(gpus.value()[0].memory_bytes.value_or(0), std::uint64_t{80} << 30);
}

TEST(DetectNvml, KeepsAGpuOfWhichSomethingIsUnknown) {
  const auto gpus = gpus_from_nvml(SELVAGE_FAKE_NVML).gpus;
  ASSERT_TRUE(gpus.is_known()) << gpus.reason();
  const Gpu& second = gpus.value().at(1);
  EXPECT_EQ(second.memory_bytes.reason(), "Not Supported");
  EXPECT_FALSE(second.numa_node.is_known());
  EXPECT_NE(second.numa_node.reason().find("feed:2b:00.0/numa_node"), std::string::npos);
}

TEST(DetectNvml, GivesAReasonOrAListOnThisMachine) {
  const auto gpus = gpus_from_nvml().gpus;
  EXPECT_NE(gpus.is_known(), !gpus.reason().empty());
}

TEST(DetectNvml, GivesTheReasonWhereTheLibraryRefusesToStart) {
  const GpuInventory inventory = inventory_of("locked");
  EXPECT_EQ(inventory.gpus.reason(), "nvmlInit: Insufficient Permissions");
  EXPECT_TRUE(inventory.pairs.empty());
}

TEST(DetectNvml, FindsAllPairsAlikeOnSwitches) {
  const GpuInventory inventory = inventory_of("nvswitch");
  ASSERT_EQ(inventory.gpus.value_or({}).size(), 4u) << inventory.gpus.reason();
  ASSERT_EQ(inventory.pairs.size(), 6u);
  for (const GpuPair& pair : inventory.pairs) {
    EXPECT_EQ(pair.level, GpuLevel::nvswitch) << pair.first << ' ' << pair.second;
    EXPECT_EQ(pair.nvlinks, 18);
    EXPECT_NEAR(pair.nvlink_gb_per_s.value_or(0), 18 * 26.562, 1e-9);
    EXPECT_EQ(pair.atomics, Figure<PeerStatus>::known(PeerStatus::ok, Source::nvml));
  }
  const Gpu& gpu = inventory.gpus.value()[3];
  const NvLink& link = gpu.links.value().at(5);
  EXPECT_EQ(link.end, LinkEnd::nvswitch);
  EXPECT_EQ(link.pci_bus_id, "0000:c1:00.0");
  EXPECT_EQ(link.version.value_or(0), 4);
  EXPECT_EQ(gpu.fabric.value().cluster, "00010203-0405-0607-0809-0a0b0c0d0e0f");
  EXPECT_EQ(gpu.fabric.value().clique, 7);
  EXPECT_EQ(gpu.near_cpus.value_or({}), (std::vector{64, 65, 66, 67, 68, 69, 70, 71}));
}

TEST(DetectNvml, TellsLinkedPairsFromThoseApart) {
  const GpuInventory inventory = inventory_of("direct");
  ASSERT_EQ(inventory.pairs.size(), 6u);
  const GpuPair& linked = inventory.pairs[0];
  EXPECT_EQ(linked.first, "feed:1b:00.0");
  EXPECT_EQ(linked.second, "feed:2b:00.0");
  EXPECT_EQ(linked.level, GpuLevel::nvlink);
  EXPECT_EQ(linked.nvlinks, 4) << "one of five links is not active";
  EXPECT_NEAR(linked.nvlink_gb_per_s.value_or(0), 4 * 25.781, 1e-9);
  const GpuPair& apart = inventory.pairs[1];
  EXPECT_EQ(apart.level, GpuLevel::root_complex);
  EXPECT_EQ(apart.nvlinks, 0);
  EXPECT_EQ(apart.nvlink_gb_per_s.reason(), "no NVLink between them");
  EXPECT_EQ(apart.over_nvlink.value_or(PeerStatus::ok), PeerStatus::not_supported);
  EXPECT_EQ(apart.read.value_or(PeerStatus::unknown), PeerStatus::ok);
  EXPECT_EQ(inventory.gpus.value()[0].fabric.reason(), "it is still joining one");
}

TEST(DetectNvml, GoesByThePcieTreeWithoutLinks) {
  const GpuInventory inventory = inventory_of("pcie");
  ASSERT_EQ(inventory.pairs.size(), 6u);
  EXPECT_TRUE(inventory.gpus.value()[0].links.is_known());
  EXPECT_TRUE(inventory.gpus.value()[0].links.value().empty());
  EXPECT_EQ(inventory.pairs[0].level, GpuLevel::pcie_switch);
  EXPECT_EQ(inventory.pairs[1].level, GpuLevel::root_complex);
  EXPECT_EQ(inventory.pairs[2].level, GpuLevel::system);
  EXPECT_EQ(inventory.pairs[2].ancestor, Figure<CommonAncestor>::known(CommonAncestor::system, Source::nvml));
}

TEST(DetectNvml, TakesHiddenLinksForSwitchesWhereAllPairsArePeers) {
  for (const GpuPair& pair : inventory_of("hidden").pairs) {
    EXPECT_EQ(pair.level, GpuLevel::nvswitch);
    EXPECT_EQ(pair.nvlinks, 6);
  }
  const GpuInventory inventory = inventory_of("hidden");
  const NvLink& link = inventory.gpus.value().at(0).links.value().at(0);
  EXPECT_EQ(link.end, LinkEnd::hidden);
  EXPECT_EQ(link.pci_bus_id, "");
  EXPECT_EQ(link.version.reason(), "Not Supported");
}

TEST(DetectNvml, TakesHiddenLinksForDirectOnesWhereSomePairsAreNoPeers) {
  const GpuInventory inventory = inventory_of("islands");
  ASSERT_EQ(inventory.pairs.size(), 6u);
  EXPECT_EQ(inventory.pairs[0].level, GpuLevel::nvlink);
  EXPECT_EQ(inventory.pairs[1].level, GpuLevel::root_complex);
  EXPECT_EQ(inventory.pairs[5].level, GpuLevel::nvlink);
}

TEST(DetectNvml, SaysWhatItMayNotAsk) {
  const GpuInventory inventory = inventory_of("refused");
  ASSERT_EQ(inventory.gpus.value_or({}).size(), 4u) << inventory.gpus.reason();
  const Gpu& gpu = inventory.gpus.value()[0];
  EXPECT_EQ(gpu.links.reason(), "Insufficient Permissions");
  EXPECT_EQ(gpu.near_cpus.reason(), "Insufficient Permissions");
  EXPECT_EQ(gpu.fabric.reason(), "Insufficient Permissions");
  const GpuPair& pair = inventory.pairs.at(0);
  EXPECT_EQ(pair.level, GpuLevel::unknown);
  EXPECT_EQ(pair.ancestor.reason(), "Insufficient Permissions");
  EXPECT_EQ(pair.read.reason(), "Insufficient Permissions");
}

TEST(DetectNvml, NamesWhatAnOldLibraryLacks) {
  const GpuInventory inventory = inventory_of("nvswitch", SELVAGE_FAKE_NVML_OLD);
  ASSERT_EQ(inventory.gpus.value_or({}).size(), 4u) << inventory.gpus.reason();
  EXPECT_EQ(inventory.gpus.value()[0].fabric.reason(), "this NVML has no nvmlDeviceGetGpuFabricInfoV");
  EXPECT_EQ(inventory.gpus.value()[0].links.reason(), "this NVML has no nvmlDeviceGetNvLinkState");
  EXPECT_EQ(inventory.pairs.at(0).read.reason(), "this NVML has no nvmlDeviceGetP2PStatus");
}

}  // namespace
}  // namespace selvage::topo
