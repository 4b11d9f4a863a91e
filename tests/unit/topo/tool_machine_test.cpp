#include "tool_support.hpp"

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace selvage::topo {
namespace {

using nlohmann::json;

/// Files and pretended programs in a folder of its own, removed at the end.
class TopoToolMachine : public TopoTool {
 protected:
  void SetUp() override {
    TopoTool::SetUp();
    folder_ = std::filesystem::temp_directory_path() / fmt::format("selvage-machine-{}", getpid());
    std::filesystem::create_directory(folder_);
    unsetenv("SLURM_JOB_NODELIST");
  }
  void TearDown() override {
    unsetenv("FAKE_NVML");
    std::filesystem::remove_all(folder_);
    TopoTool::TearDown();
  }

  std::string file(const std::string& name, const std::string& text) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path) << text;
    return path;
  }
  /// The tool with a pretended scontrol, which runs these lines.
  [[nodiscard]] Ended tool_beside_scontrol(const std::string& script, const std::string& arguments) const {
    const std::string path = file("scontrol", "#!/bin/sh\n" + script);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return shell(fmt::format("PATH='{}':$PATH '{}' {}", folder_.string(), SELVAGE_TOPO_TOOL, arguments));
  }

  std::filesystem::path folder_;
};

TEST_F(TopoToolMachine, ShowsWhatItPrintedItself) {
  const Ended first = tool_on(2, "show --json 2>/dev/null");
  ASSERT_EQ(first.exit_code, 0);
  const Ended again = tool(fmt::format("show --json --from {}", file("m.json", first.output)));
  EXPECT_EQ(again.exit_code, 0) << again.output;
  EXPECT_EQ(json::parse(again.output), json::parse(first.output));
}

TEST_F(TopoToolMachine, ShowsTheGpusOfThisHost) {
  setenv("FAKE_NVML", "direct", 1);
  const Ended ended = shell(fmt::format("LD_LIBRARY_PATH='{}':$LD_LIBRARY_PATH '{}' show",
                                        SELVAGE_FAKE_NVML_FOLDER, SELVAGE_TOPO_TOOL));
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_NE(ended.output.find("    feed:1b:00.0  -             NVLink x4     root complex  system\n"),
            std::string::npos)
      << ended.output;
}

TEST_F(TopoToolMachine, ShowsTheSwitchesThatSlurmNamed) {
  const Ended ended =
      shell(fmt::format("SLURM_TOPOLOGY_ADDR=top.leaf3.$(hostname) "
                        "SLURM_TOPOLOGY_ADDR_PATTERN=switch.switch.node '{}' show",
                        SELVAGE_TOPO_TOOL));
  EXPECT_NE(ended.output.find("  switches          top > leaf3 [environment]\n"), std::string::npos)
      << ended.output;
}

TEST_F(TopoToolMachine, MapsToGpusThatLinksJoin) {
  setenv("FAKE_NVML", "direct", 1);
  // Ranks 0 and 2, and 1 and 3, exchange much; GPUs 0 and 1, and 2 and 3, are joined.
  const std::string traffic = file("t.csv",
                                   "from,to,host_bytes,host_messages,device_bytes,device_messages\n"
                                   "0,2,0,0,1000,1\n1,3,0,0,1000,1\n");
  const Ended ended =
      shell(fmt::format("{} 4 env LD_LIBRARY_PATH='{}':$LD_LIBRARY_PATH '{}' map --fabric job-gpus "
                        "--traffic {} --json 2>/dev/null",
                        SELVAGE_MPIEXEC, SELVAGE_FAKE_NVML_FOLDER, SELVAGE_TOPO_TOOL, traffic));
  ASSERT_EQ(ended.exit_code, 0) << ended.output;
  const json mapped = json::parse(ended.output);
  const auto slot = [&](int rank) { return mapped.at("ranks").at(rank).at("slot").get<int>(); };
  EXPECT_EQ(slot(0) / 2, slot(2) / 2) << ended.output;
  EXPECT_EQ(slot(1) / 2, slot(3) / 2) << ended.output;
}

TEST_F(TopoToolMachine, MapsToTheMachineOfAFile) {
#ifndef SELVAGE_TEST_HWLOC
  test::say_skipped("the machine of a file, since this is built without hwloc");
  GTEST_SKIP();
#endif
  const Ended ended =
      tool(fmt::format("map --pattern 2d-2x2 --fabric machine:{}/hwloc.xml", SELVAGE_TOPO_SAMPLES));
  EXPECT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_NE(ended.output.find("4 ranks on machine, 4 ranks on 1 host"), std::string::npos) << ended.output;
}

TEST_F(TopoToolMachine, EndsWithTwoAndOneMessageOnAForeignFile) {
  for (const char* text : {"", "nothing", "# SwitchName=a"}) {
    const std::string path = file("x", text);
    const Ended ended = tool_on(2, "show --from " + path);
    EXPECT_EQ(ended.exit_code, 2);
    EXPECT_EQ(occurrences(ended.output,
                          path + " is none of what selvage-topo show --json prints, hwloc's XML and NCCL's"),
              1)
        << ended.output;
  }
  const Ended missing = tool("show --from /nowhere/m.json");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_EQ(missing.output, "selvage-topo: cannot read /nowhere/m.json: No such file or directory\n");
}

TEST_F(TopoToolMachine, AsksScontrolForSwitches) {
  const std::string script =
      "[ \"$1 $2\" = 'show topology' ] || exit 3\n"
      "echo 'SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[0-1]'\n"
      "echo 'SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[2-3]'\n"
      "echo 'SwitchName=top Level=1 LinkSpeed=1 Nodes=n[0-3] Switches=s[0-1]'\n";
  const Ended ended =
      tool_beside_scontrol(script, "map --pattern 2d-2x1 --fabric scontrol --nodes n0,n3 --slots-per-host 1");
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_NE(ended.output.find("scontrol show topology, 2 hosts of 1 slot"), std::string::npos)
      << ended.output;
}

TEST_F(TopoToolMachine, SaysThatItFallsBackWhereScontrolIsOfNoUse) {
  const std::string map = "map --pattern 2d-1x1 --fabric scontrol";
  const auto said = [](const char* why) {
    return fmt::format("selvage-topo: {}: the machine under this job is taken\n", why);
  };
  const Ended refused = tool_beside_scontrol("exit 1\n", map);
  EXPECT_EQ(refused.exit_code, 0);
  EXPECT_EQ(occurrences(refused.output, said("scontrol show topology failed")), 1) << refused.output;
  EXPECT_EQ(occurrences(refused.output, "1 rank on machine, 1 rank on 1 host"), 1) << refused.output;
  const Ended missing = tool_beside_scontrol("exit 127\n", map);
  EXPECT_EQ(occurrences(missing.output, said("there is no scontrol")), 1) << missing.output;
  const Ended flat = tool_beside_scontrol("echo 'No topology information available'\n", map);
  EXPECT_EQ(occurrences(flat.output, said("scontrol show topology names no switches")), 1) << flat.output;
  const Ended broken = tool_beside_scontrol("echo SwitchName=a\n", map);
  EXPECT_EQ(occurrences(broken.output, said("scontrol show topology:1: one of Nodes and Switches is needed")),
            1)
      << broken.output;
}

}  // namespace
}  // namespace selvage::topo
