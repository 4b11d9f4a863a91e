#include "mutation.hpp"

#include <selvage/topo/fabric.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace selvage::topo {
namespace {

constexpr const char* topology = R"(# two leaves and a top
SwitchName=s0 Nodes=n[0-2]
switchname=s1 nodes=n[3-4],login LinkSpeed=100
SwitchName=top \
  Switches=s[0-1]
)";

TEST(HostList, ExpandsRangesZerosAndSeveralBrackets) {
  EXPECT_EQ(expand_host_list("n[0-2,7],login"), (std::vector<std::string>{"n0", "n1", "n2", "n7", "login"}));
  EXPECT_EQ(expand_host_list("n[08-10]"), (std::vector<std::string>{"n08", "n09", "n10"}));
  EXPECT_EQ(expand_host_list("r[1-2]n[0-1]x"),
            (std::vector<std::string>{"r1n0x", "r1n1x", "r2n0x", "r2n1x"}));
}

TEST(HostList, RefusesWhatIsNone) {
  for (const char* list : {"", "a,,b", "n[", "n]", "n[]", "n[a]", "n[3-1]", "n[0-99999]", "n[0-100]m[0-100]",
                           "n[-1]", "n[1-]", "n[99999999999]"}) {
    EXPECT_NE(input_error([&] { (void)expand_host_list(list); }), "") << list;
  }
  EXPECT_EQ(input_error([] { (void)expand_host_list("n[0\n1]"); }),
            "host list 'n[0?1]' has a range that is no number");
  expect_only_input_errors("r[1-2]n[0-11,14],login",
                           [](const std::string& text) { (void)expand_host_list(text); });
}

TEST(SlurmTopology, CountsLevelsToTheFirstCommonSwitch) {
  const Fabric fabric = fabric_from_slurm(topology, "t", {.slots_per_host = 2, .nodes = {}, .costs = {}});
  EXPECT_EQ(fabric.host_count(), 6);
  EXPECT_EQ(fabric.slot_count(), 12);
  EXPECT_EQ(fabric.host(5).name, "login");
  EXPECT_EQ(fabric.cost(0, 1), 1u);
  EXPECT_EQ(fabric.host_cost(0, 2), 10u);
  EXPECT_EQ(fabric.host_cost(0, 3), 20u);
  const auto path = fabric.network()->paths(0, 3, Routing::fixed).front();
  std::vector<std::string> names;
  for (const int link : path) names.push_back(fabric.network()->links()[link].name);
  EXPECT_EQ(names, (std::vector<std::string>{"n0 up", "s0 up", "s1 down", "n3 down"}));
}

TEST(SlurmTopology, TakesTheHostsOfTheJobInTheirOrder) {
  const Fabric fabric =
      fabric_from_slurm(topology, "t", {.slots_per_host = 1, .nodes = "n4,n[0-1]", .costs = {}});
  EXPECT_EQ(fabric.host(0).name, "n4");
  EXPECT_EQ(fabric.host_cost(0, 1), 20u);
  EXPECT_EQ(fabric.host_cost(1, 2), 10u);
}

TEST(SlurmTopology, JoinsTreesThatNothingJoins) {
  const Fabric fabric = fabric_from_slurm("SwitchName=a Nodes=x\nSwitchName=b Nodes=y\n", "t");
  EXPECT_EQ(fabric.host_cost(0, 1), 20u);
}

// As scontrol prints it: upper switches list the hosts below them too.
TEST(SlurmTopology, ReadsTabsAndQuotes) {
  const Fabric fabric =
      fabric_from_slurm("SwitchName=a\tNodes=\"n[0-1]\"\t# a leaf\nSwitchName=b \tNodes=n2\n", "t");
  EXPECT_EQ(fabric.host_count(), 3);
  EXPECT_EQ(fabric.host(1).name, "n1");
  EXPECT_EQ(fabric.host_cost(0, 1), 10u);
}

TEST(SlurmTopology, TakesBlanksContinuationsAndEscapesAsSlurmDoes) {
  const auto hosts = [](const char* text) {
    const Fabric fabric = fabric_from_slurm(text, "t");
    std::vector<std::string> names;
    for (int host = 0; host < fabric.host_count(); ++host) names.push_back(fabric.host(host).name);
    return names;
  };
  const std::vector<std::string> both = {"n0", "n1"};
  EXPECT_EQ(hosts("  SWITCHNAME = a\tnodes =n[0-1]\n"), both);
  EXPECT_EQ(hosts("SwitchName= a Nodes= \"n0, n1\" LinkSpeed = 1\r\n"), both);
  EXPECT_EQ(hosts("SwitchName=a Nodes=\"n0 n1\"\n"), both);
  EXPECT_EQ(hosts("SwitchName=a Nodes=n0,\\\nn1 # the second\n"), both);
  EXPECT_EQ(hosts("SwitchName=a Nodes=n[0-\\  # goes on\r\n1]\n"), both);
  EXPECT_EQ(hosts("SwitchName=a\\#1 Nodes=n[0-1]\\\\\nSwitchName=b Nodes=n2"),
            (std::vector<std::string>{"n0\\", "n1\\", "n2"}));
}

class SlurmInclude : public testing::Test {
 protected:
  SlurmInclude() { std::filesystem::create_directory(folder_); }
  ~SlurmInclude() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string write(const char* name, const char* text) const {
    const std::string path = folder_ / name;
    std::ofstream(path) << text;
    return path;
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("selvage-slurm-include-" + std::to_string(getpid()));
};

TEST_F(SlurmInclude, ReadsFilesOfTheSameFolder) {
  const std::string leaves = write("leaves.conf", "SwitchName=s0 Nodes=a\nSwitchName=s1 Nodes=b Nodez=c\n");
  const std::string top = write("top.conf", "");
  const char* text = "include leaves.conf # both\nSwitchName=top Switches=s[0-1]\n";
  EXPECT_EQ(input_error([&] { (void)fabric_from_slurm(text, top); }),
            leaves + ":2: 'nodez' is none of SwitchName, Nodes, Switches and LinkSpeed");
  (void)write("leaves.conf", "SwitchName=s0 Nodes=a\nSwitchName=s1 Nodes=b\n");
  EXPECT_EQ(fabric_from_slurm(text, top).host_cost(0, 1), 20U);
  (void)write("leaves.conf", "Include leaves.conf\n");
  EXPECT_EQ(input_error([&] { (void)fabric_from_slurm(text, top); }),
            leaves + ": too many files are included");
  EXPECT_NE(
      input_error([&] { (void)fabric_from_slurm("\nInclude none.conf", top); }).find(top + ":2: cannot read"),
      std::string::npos);
}

TEST(SlurmTopology, RefusesAHostThatIsNamedTwice) {
  EXPECT_EQ(input_error([] {
              (void)fabric_from_slurm("SwitchName=a Nodes=n[0-1]\n", "t",
                                      {.slots_per_host = 1, .nodes = "n0,n[0-1]", .costs = {}});
            }),
            "host 'n0' occurs a second time in 'n0,n[0-1]'");
}

constexpr const char* printed_tree = R"(SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[0-2]
SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[3-4]
SwitchName=top Level=1 LinkSpeed=1 Nodes=n[0-4] Switches=s[0-1]
)";
constexpr const char* printed_blocks = R"(BlockName=b0 BlockIndex=0 Nodes=n[0-1] BlockSize=2
BlockName=b1 BlockIndex=1 Nodes=n[2-3] BlockSize=2
AggregatedBlock=b[0-1] BlockIndex=2 Nodes=n[0-3] BlockSize=4
)";

TEST(SlurmTopology, ReadsWhatScontrolPrints) {
  const Fabric fabric =
      fabric_from_slurm(printed_tree, "scontrol", {.slots_per_host = 1, .nodes = {}, .costs = {}});
  EXPECT_EQ(fabric.host_count(), 5);
  EXPECT_EQ(fabric.host_cost(0, 2), 10u);
  EXPECT_EQ(fabric.host_cost(0, 3), 20u);
}

TEST(SlurmTopology, ReadsBlocks) {
  for (const char* text :
       {printed_blocks, "BlockName=b0 Nodes=n[0-1]\nBlockName=b1 Nodes=n[2-3]\nBlockSizes=2,4\n"}) {
    const Fabric fabric = fabric_from_slurm(text, "t", {.slots_per_host = 1, .nodes = {}, .costs = {}});
    EXPECT_EQ(fabric.host_count(), 4) << text;
    EXPECT_EQ(fabric.host_cost(0, 1), 10u) << text;
    EXPECT_EQ(fabric.host_cost(1, 2), 20u) << text;
  }
}

TEST(SlurmTopology, NamesFileAndLineOfWhatIsWrong) {
  const auto message = [](const char* text, SlurmTopologyOptions options = {}) {
    return input_error([&] { (void)fabric_from_slurm(text, "t.conf", options); });
  };
  EXPECT_EQ(message(""), "t.conf: there is no SwitchName");
  EXPECT_EQ(message("SwitchName=a\n"), "t.conf:1: one of Nodes and Switches is needed");
  EXPECT_EQ(message("\nNodes=a\n"), "t.conf:2: there is no SwitchName");
  EXPECT_EQ(message("SwitchName=a Nodes=x Switches=b\n"), "t.conf:1: one of Nodes and Switches is needed");
  EXPECT_EQ(message("SwitchName=a Nodes=x[\n"), "t.conf:1: host list 'x[' has a bracket without its pair");
  EXPECT_EQ(message("SwitchName=a Nodes=x\nSwitchName=a Nodes=y\n"),
            "t.conf:2: switch 'a' occurs a second time");
  EXPECT_EQ(message("SwitchName=a Nodes=x,x\n"), "t.conf:1: host 'x' occurs a second time");
  EXPECT_EQ(message("SwitchName=a Switches=b\n"), "t.conf:1: switch 'b' is named nowhere");
  EXPECT_EQ(message("SwitchName=a Switches=b\nSwitchName=b Switches=a\n"),
            "t.conf: 'a' is below itself, or below too many switches");
  EXPECT_EQ(message("SwitchName=l Nodes=x\nSwitchName=a Switches=l\nSwitchName=b Switches=l\n"),
            "t.conf:3: switch 'l' is below two switches; a tree is needed");
  EXPECT_EQ(message("SwitchName=a Nodez=x\n"),
            "t.conf:1: 'nodez' is none of SwitchName, Nodes, Switches and LinkSpeed");
  EXPECT_EQ(message("SwitchName=a Nodes\n"), "t.conf:1: 'Nodes' is not KEY=VALUE");
  EXPECT_EQ(message("SwitchName=a Nodes= Switches=b\n"), "t.conf:1: 'Nodes= Switches=b' is not KEY=VALUE");
  EXPECT_EQ(message("SwitchName=a Nodes=\"x\n"), "t.conf:1: 'Nodes=\"x' is not KEY=VALUE");
  EXPECT_EQ(message(topology, {.slots_per_host = 1, .nodes = "n9", .costs = {}}),
            "t.conf: host 'n9' is not in it");
  EXPECT_EQ(message(topology, {.slots_per_host = 0, .nodes = {}, .costs = {}}), "host n0 has 0 slots");
}

TEST(SlurmTopology, SurvivesMutations) {
  for (const char* text : {topology, printed_tree, printed_blocks}) {
    expect_only_input_errors(
        text, [](const std::string& input) { (void)fabric_from_slurm(input, "t"); }, 1500);
  }
}

TEST(ScotchTarget, ReadsTreeLeaves) {
  const Fabric fabric = fabric_from_scotch_target("tleaf\n3 2 30 2 20 3 7\n", "t");
  EXPECT_EQ(fabric.slot_count(), 12);
  EXPECT_EQ(fabric.host_count(), 4);
  EXPECT_EQ(fabric.cost(0, 2), 7u);
  EXPECT_EQ(fabric.cost(0, 3), 27u);
  EXPECT_EQ(fabric.cost(0, 6), 57u);
}

TEST(ScotchTarget, ReadsCompleteGraphsAndDistances) {
  EXPECT_TRUE(fabric_from_scotch_target("cmplt 4", "t").is_flat());
  const Fabric fabric = fabric_from_scotch_target("deco 0\n3 5\n4 1 4\n6 1 5\n8 1 3\n9\n7 2\n", "t");
  EXPECT_EQ(fabric.host(1).name, "target6");
  EXPECT_EQ(fabric.cost(0, 1), 9u);
  EXPECT_EQ(fabric.cost(0, 2), 7u);
  EXPECT_EQ(fabric.cost(1, 2), 2u);
}

TEST(ScotchTarget, ReadsMeshesToriAndHypercubes) {
  const Fabric mesh = fabric_from_scotch_target("mesh2D 4 3", "t");
  EXPECT_EQ(mesh.host_count(), 12);
  EXPECT_EQ(mesh.description(), "t, mesh2D");
  EXPECT_EQ(mesh.cost(0, 3), 3U);
  EXPECT_EQ(mesh.cost(0, 4), 1U);
  EXPECT_EQ(mesh.cost(0, 11), 5U);
  EXPECT_EQ(fabric_from_scotch_target("torus2D 4 3", "t").cost(0, 11), 2U);
  EXPECT_EQ(fabric_from_scotch_target("hcub 3", "t").cost(0, 7), 3U);
  EXPECT_EQ(fabric_from_scotch_target("torus3D 1 1 5", "t").cost(0, 3), 2U);
}

TEST(ScotchTarget, NamesFileAndLineOfWhatIsWrong) {
  const auto message = [](const char* text) {
    return input_error([&] { (void)fabric_from_scotch_target(text, "t.tgt"); });
  };
  EXPECT_EQ(message(""), "t.tgt:1: the file ends before the kind of target");
  EXPECT_EQ(message("\xff\x1b[31m 4"),
            "t.tgt:1: '??[31m' is none of tleaf, cmplt, mesh2D, mesh3D, torus2D, torus3D, hcub and deco");
  EXPECT_NE(message("mesh4D 2 2 2 2"), "");
  EXPECT_EQ(message("mesh2D 4"), "t.tgt:1: the file ends before the size of a dimension");
  EXPECT_EQ(message("torus3D 100 100\n100"), "t.tgt:2: more than 8192 targets");
  EXPECT_EQ(message("hcub 14"), "t.tgt:1: the number of dimensions '14' is not a whole number from 1 to 13");
  EXPECT_EQ(message("cmplt 0"), "t.tgt:1: the number of targets '0' is not a whole number from 1 to 8192");
  EXPECT_EQ(message("cmplt\n4 4"), "t.tgt:2: there is more in the file than the target needs");
  EXPECT_EQ(message("tleaf 2 4 1"), "t.tgt:1: the file ends before the size of a level");
  EXPECT_EQ(message("tleaf 2 4 1 4 -3"),
            "t.tgt:1: the cost of a level '-3' is not a whole number from 1 to 65535");
  EXPECT_EQ(message("tleaf 2 100000 1 100000 1"), "t.tgt:1: more than 131072 targets");
  EXPECT_EQ(message("tleaf 2 2 60000 2 60000"), "t.tgt:1: the costs sum up to 120000");
  EXPECT_EQ(message("deco 1\n2 3"), "t.tgt:1: only 'deco 0' can be read, which lists all distances");
  EXPECT_EQ(message("deco 0\n2 3\n0 1 3\n0 1 2\n1\n"), "t.tgt:4: target 0 occurs a second time");
  EXPECT_EQ(message("deco 0\n8000 9000\n"), "t.tgt:3: the file ends before a target's label");
  EXPECT_EQ(message("deco 0\n2 3\n0 1 3\n1 1 2\nx\n"),
            "t.tgt:5: a distance 'x' is not a whole number from 1 to 65535");
}

TEST(ScotchTarget, SurvivesMutations) {
  for (const char* text : {"tleaf\n3 2 30 2 20 3 7\n", "cmplt 12\n", "torus3D 4 2 3\n",
                           "deco 0\n3 5\n4 1 4\n6 1 5\n8 1 3\n9\n7 2\n"}) {
    expect_only_input_errors(
        text, [](const std::string& input) { (void)fabric_from_scotch_target(input, "t"); }, 300);
  }
}

}  // namespace
}  // namespace selvage::topo
