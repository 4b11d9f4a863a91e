#include "records.hpp"

#include <gtest/gtest.h>

namespace selvage::topo {
namespace {

TEST(DetectNvml, NamesTheMissingLibraryAsTheReason) {
  const auto gpus = gpus_from_nvml("libselvage-has-no-such-library.so.1");
  ASSERT_FALSE(gpus.is_known());
  EXPECT_NE(gpus.reason().find("libselvage-has-no-such-library.so.1"), std::string::npos) << gpus.reason();
}

TEST(DetectNvml, NamesTheMissingFunctionOfAnUnsuitableLibrary) {
  const auto gpus = gpus_from_nvml("libc.so.6");
  ASSERT_FALSE(gpus.is_known());
  EXPECT_NE(gpus.reason().find("nvmlInit_v2"), std::string::npos) << gpus.reason();
}

TEST(DetectNvml, ListsEachGpuWithNormalizedBusId) {
  const auto gpus = gpus_from_nvml(SELVAGE_FAKE_NVML);
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
  const auto gpus = gpus_from_nvml(SELVAGE_FAKE_NVML);
  ASSERT_TRUE(gpus.is_known()) << gpus.reason();
  const Gpu& second = gpus.value().at(1);
  EXPECT_EQ(second.memory_bytes.reason(), "Not Supported");
  EXPECT_FALSE(second.numa_node.is_known());
  EXPECT_NE(second.numa_node.reason().find("feed:2b:00.0/numa_node"), std::string::npos);
}

TEST(DetectNvml, GivesAReasonOrAListOnThisMachine) {
  const auto gpus = gpus_from_nvml();
  EXPECT_NE(gpus.is_known(), !gpus.reason().empty());
}

}  // namespace
}  // namespace selvage::topo
