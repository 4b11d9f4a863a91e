#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

struct Ended {
  int exit_code = -1;
  std::string output;  ///< standard output and standard error together, unless the command says otherwise
};

Ended shell(const std::string& command) {
  Ended ended;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return ended;
  std::array<char, 4096> buffer;
  for (std::size_t bytes; (bytes = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    ended.output.append(buffer.data(), bytes);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
  return ended;
}

Ended tool(const std::string& arguments) {
  return shell(fmt::format("'{}' {}", SELVAGE_TOPO_TOOL, arguments));
}

Ended tool_on(int ranks, const std::string& arguments) {
  return shell(fmt::format("{} {} '{}' {}", SELVAGE_MPIEXEC, ranks, SELVAGE_TOPO_TOOL, arguments));
}

int occurrences(const std::string& text, const std::string& part) {
  int count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class TopoTool : public testing::Test {
 protected:
  void SetUp() override { unsetenv("SELVAGE_LOGICAL_HOSTS"); }
  void TearDown() override { unsetenv("SELVAGE_LOGICAL_HOSTS"); }
};

TEST_F(TopoTool, ShowsOneRankWithoutMpirun) {
  const Ended ended = tool("show");
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

TEST_F(TopoTool, SuggestsTheSubcommandForAMistypedOne) {
  const Ended ended = tool("shwo");
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
  EXPECT_NE(tool("show everything").output.find("unknown argument 'everything'"), std::string::npos);
  EXPECT_EQ(tool("show everything").exit_code, 2);
}

TEST_F(TopoTool, EndsWithOneWhenItsOutputCannotBeWritten) {
  EXPECT_EQ(tool("show --json >/dev/full 2>/dev/full").exit_code, 1);
  const Ended ended = shell(fmt::format("('{}' show >/dev/full)", SELVAGE_TOPO_TOOL));
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.output, "selvage-topo: cannot write to standard output\n");
}

TEST_F(TopoTool, HelpListsOnlyWhatThereIs) {
  const Ended ended = tool_on(2, "--help");
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(occurrences(ended.output, "Print the machine under this job"), 1) << ended.output;
  for (const char* later : {"probe", "profile", "simulate", "rankfile"}) {
    EXPECT_EQ(ended.output.find(later), std::string::npos) << later;
  }
}

TEST_F(TopoTool, PrintsItsVersion) {
  const Ended ended = tool("--version");
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.output.rfind("selvage-topo ", 0), 0u) << ended.output;
}

}  // namespace
