#include "tool_support.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace selvage::topo {
namespace {

TEST_F(TopoTool, ShowsOneRankWithoutMpirun) {
  const Ended ended = tool_as_it_is("show");
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(occurrences(ended.output, "1 rank on 1 host (1 physical)"), 1) << ended.output;
}

TEST_F(TopoTool, PrintsOnceUnderMpirun) {
  const Ended ended = tool_on(4, "show");
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(occurrences(ended.output, "4 ranks on 1 host (1 physical)"), 1) << ended.output;
}

TEST_F(TopoTool, PrintsOneJsonDocumentUnderMpirun) {
  const Ended ended = tool_on(2, "show --json 2>/dev/null");
  EXPECT_EQ(ended.exit_code, 0);
  const auto parsed = nlohmann::json::parse(ended.output);
  EXPECT_EQ(parsed.at("ranks").size(), 2u);
}

TEST_F(TopoTool, ShowsLogicalHosts) {
  setenv("SELVAGE_LOGICAL_HOSTS", "2x2", 1);
  const Ended ended = tool_on(4, "show");
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(occurrences(ended.output, "4 ranks on 2 hosts (1 physical)"), 1) << ended.output;
}

TEST_F(TopoTool, EndsWithTwoAndOneMessageOnBadLogicalHosts) {
  setenv("SELVAGE_LOGICAL_HOSTS", "2x3", 1);
  const Ended ended = tool_on(4, "show");
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(occurrences(ended.output, "SELVAGE_LOGICAL_HOSTS=2x3 makes 6 ranks, but the job has 4"), 1)
      << ended.output;
}

TEST_F(TopoTool, WritesIntoDevices) {
  if (!std::filesystem::is_character_file("/dev/full")) {
    test::say_skipped("a full device, since there is no /dev/full");
    GTEST_SKIP();
  }
  const Ended shown = tool("map --pattern 2d-2x2 --fabric flat --output /dev/stdout | cat");
  EXPECT_NE(shown.output.find("\"selvage_placement_version\""), std::string::npos) << shown.output;
  const Ended full = tool("map --pattern 2d-2x2 --fabric flat --output /dev/full");
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_EQ(occurrences(full.output, "cannot write /dev/full: No space left on device"), 1) << full.output;
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST_F(TopoTool, SuggestsTheSubcommandForAMistypedOne) {
  const Ended ended = tool_as_it_is("shwo");
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_NE(ended.output.find("unknown subcommand 'shwo', did you mean 'show'?"), std::string::npos)
      << ended.output;
}

TEST_F(TopoTool, EndsWithTwoAndOneMessageOnAnUnknownOptionUnderMpirun) {
  const Ended ended = tool_on(4, "show --jsn");
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(occurrences(ended.output, "unknown option '--jsn', did you mean '--json'?"), 1) << ended.output;
}

TEST_F(TopoTool, EndsWithTwoWithoutASubcommand) {
  const Ended ended = tool("");
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(occurrences(ended.output, "a subcommand is needed"), 1) << ended.output;
}

TEST_F(TopoTool, RefusesAValueForAFlagAndStrayArguments) {
  EXPECT_EQ(tool("show --json=7").exit_code, 2);
  const Ended stray = tool("show everything");
  EXPECT_EQ(stray.exit_code, 2);
  EXPECT_NE(stray.output.find("unknown argument 'everything'"), std::string::npos) << stray.output;
}

TEST_F(TopoTool, EndsWithOneWhenItsOutputCannotBeWritten) {
  if (!std::filesystem::is_character_file("/dev/full")) {
    test::say_skipped("a full device, since there is no /dev/full");
    GTEST_SKIP();
  }
  EXPECT_EQ(tool("show --json >/dev/full 2>/dev/full").exit_code, 1);
  const Ended ended = shell(fmt::format("('{}' show >/dev/full)", SELVAGE_TOPO_TOOL));
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.output, "selvage-topo: cannot write to standard output\n");
}

TEST_F(TopoTool, HelpListsWhatThereIs) {
  const Ended ended = tool_on(2, "--help");
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(occurrences(ended.output, "Print the machine under this job"), 1) << ended.output;
  for (const char* there : {"show", "probe", "profile", "map", "simulate", "rankfile"}) {
    EXPECT_NE(ended.output.find(there), std::string::npos) << there;
    const Ended help = tool(fmt::format("{} --help", there));
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_NE(help.output.find("--json"), std::string::npos) << help.output;
  }
}

TEST_F(TopoTool, PrintsItsVersion) {
  const Ended ended = tool("--version");
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.output.rfind("selvage-topo ", 0), 0u) << ended.output;
}

TEST_F(TopoTool, RefusesForSuitesWhatIsForOneCase) {
  for (const char* option : {"--fabric torus", "--slots-per-host 2", "--grid 9x9"})
    EXPECT_EQ(tool(fmt::format("simulate --suite quick --seeds 1 {}", option)).exit_code, 2) << option;
}

}  // namespace
}  // namespace selvage::topo
