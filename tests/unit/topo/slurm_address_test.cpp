#include "machine/detect/records.hpp"

#include <gtest/gtest.h>

namespace selvage::topo {
namespace {

using Names = std::vector<std::string>;

TEST(SlurmAddress, NamesTheSwitchesFromTheTopDown) {
  EXPECT_EQ(switches_of_address("top.leaf3.n7", "switch.switch.node", "n7"),
            Figure<Names>::known({"top", "leaf3"}, Source::environment));
  EXPECT_EQ(switches_of_address("s[0-1].leaf3.n7", "switch.switch.node", "n7").value_or({}),
            (Names{"s[0-1]", "leaf3"}));
  EXPECT_EQ(switches_of_address("b2.n7", "block.node", "n7").value_or({}), Names{"b2"});
}

TEST(SlurmAddress, TakesDotsInTheNameOfAHost) {
  EXPECT_EQ(switches_of_address("top.n7.site.org", "switch.node", "n7").value_or({}), Names{"top"});
  EXPECT_EQ(switches_of_address("top.n7", "switch.node", "n7.site.org").value_or({}), Names{"top"});
}

TEST(SlurmAddress, SaysWhyItIsOfNoUse) {
  const auto reason = [](std::optional<std::string> address, std::optional<std::string> pattern) {
    const auto switches = switches_of_address(address, pattern, "n7");
    EXPECT_FALSE(switches.is_known());
    return switches.reason();
  };
  EXPECT_EQ(reason({}, {}), "SLURM_TOPOLOGY_ADDR is not set");
  EXPECT_EQ(reason("top.n7", {}), "SLURM_TOPOLOGY_ADDR is not set");
  EXPECT_EQ(reason("n7", "node"), "SLURM_TOPOLOGY_ADDR names no switches");
  EXPECT_EQ(reason("top.n7", "switch.switch"),
            "SLURM_TOPOLOGY_ADDR_PATTERN is 'switch.switch', without a node");
  EXPECT_EQ(reason("top.n7", ""), "SLURM_TOPOLOGY_ADDR_PATTERN is '', without a node");
  EXPECT_EQ(reason("n7", "switch.node"), "SLURM_TOPOLOGY_ADDR is 'n7', which is no switch.node");
  EXPECT_EQ(reason(".n7", "switch.node"), "SLURM_TOPOLOGY_ADDR is '.n7', which is no switch.node");
  EXPECT_EQ(reason("top.n8", "switch.node"), "SLURM_TOPOLOGY_ADDR is that of n8, not of n7");
}

}  // namespace
}  // namespace selvage::topo
