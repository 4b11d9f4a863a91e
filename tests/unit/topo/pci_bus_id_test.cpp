#include <selvage/topo/machine.hpp>

#include <gtest/gtest.h>

namespace selvage::topo {
namespace {

TEST(PciBusId, IsTheSameFromEachLibrary) {
  EXPECT_EQ(normalized_pci_bus_id("00000000:1B:00.0"), "0000:1b:00.0");
  EXPECT_EQ(normalized_pci_bus_id("0000:1b:00.0"), "0000:1b:00.0");
  EXPECT_EQ(normalized_pci_bus_id("00010000:1b:1F.7"), "10000:1b:1f.7");
}

TEST(PciBusId, IsEmptyForAnythingElse) {
  for (const char* text : {"", "0", "1b:00.0", "0000:1b:00", "0000:1b:00.0 ", "0000:100:00.0", "0000:1b:20.0",
                           "0000:1b:00.8", "GPU-1b", "-1:1b:00.0"}) {
    EXPECT_EQ(normalized_pci_bus_id(text), "") << text;
  }
}

}  // namespace
}  // namespace selvage::topo
