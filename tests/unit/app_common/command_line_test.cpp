#include "common/command_line.hpp"

#include "expect_error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace selvage;
using app::testing_support::error_message;

const app::AppInfo info{
    .name = "demo",
    .summary = "a demonstration",
    .version = "1.2.3",
    .flags = {{.name = "--overlap", .key = "run.overlap", .value_name = "MODE", .choices = {"off", "host"}},
              {.name = "--compare", .key = "run.compare", .help = "compare"}}};

app::CommandLine parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "demo");
  return app::parse_command_line(static_cast<int>(arguments.size()), arguments.data(), info);
}

std::string text_of(const app::Override& given) {
  return given.origin + " " + given.key + "=" + given.text;
}

std::vector<std::string> overrides(std::vector<const char*> arguments) {
  std::vector<std::string> texts;
  for (const auto& given : parse(std::move(arguments)).overrides) texts.push_back(text_of(given));
  return texts;
}

using Texts = std::vector<std::string>;

TEST(CommandLine, IsEmptyWithoutArguments) {
  const auto line = parse({});
  EXPECT_FALSE(line.input_path);
  EXPECT_TRUE(line.overrides.empty());
  EXPECT_FALSE(line.check || line.env || line.json || line.quiet);
  EXPECT_FALSE(line.text_only);
}

TEST(CommandLine, TakesTheInputFileAndTheModes) {
  const auto line = parse({"a.toml", "--check", "--env", "--json", "--quiet"});
  EXPECT_EQ(line.input_path, "a.toml");
  EXPECT_TRUE(line.check && line.env && line.json && line.quiet);
}

TEST(CommandLine, TurnsSharedFlagsIntoOverrides) {
  EXPECT_EQ(overrides({"--steps", "10", "--restart", "r.h5", "--out", "dir", "--transport", "peer",
                       "--initiation", "host", "--ranks-grid", "2x2", "--verify"}),
            (Texts{"--steps run.steps=10", "--restart run.restart=r.h5", "--out run.out=dir",
                   "--transport comm.transport=peer", "--initiation comm.initiation=host",
                   "--ranks-grid comm.ranks_grid=2x2", "--verify run.verify=true"}));
}

TEST(CommandLine, KeepsTheOrderOfFlagsAndSet) {
  EXPECT_EQ(overrides({"--set", "run.steps=1", "--steps", "2", "--set=run.steps=3", "--steps=4"}),
            (Texts{"--set run.steps=1", "--steps run.steps=2", "--set run.steps=3", "--steps run.steps=4"}));
}

TEST(CommandLine, SplitsSetAtTheFirstEqualsSign) {
  EXPECT_EQ(overrides({"--set", "case.name=a=b", "--set", "case.empty="}),
            (Texts{"--set case.name=a=b", "--set case.empty="}));
}

TEST(CommandLine, KeepsNegativeValuesForTheInputToJudge) {
  EXPECT_EQ(overrides({"--steps", "-5"}), Texts{"--steps run.steps=-5"});
}

TEST(CommandLine, AddsTheAppsOwnFlags) {
  EXPECT_EQ(overrides({"--overlap", "off", "--compare"}),
            (Texts{"--overlap run.overlap=off", "--compare run.compare=true"}));
}

TEST(CommandLine, SwitchesOffASwitchThatIsFalse) {
  EXPECT_EQ(overrides({"--verify=false"}), Texts{"--verify run.verify=false"});
}

TEST(CommandLine, SuggestsTheFlagForAnUnknownOne) {
  const auto message = error_message(ErrorKind::usage, [] { (void)parse({"--stepps", "10"}); });
  EXPECT_EQ(message, "unknown flag '--stepps', did you mean '--steps'? (see demo --help)");
}

TEST(CommandLine, SuggestsTheAppsFlagsToo) {
  const auto message = error_message(ErrorKind::usage, [] { (void)parse({"--overlpa=off"}); });
  EXPECT_NE(message.find("did you mean '--overlap'?"), std::string::npos) << message;
}

TEST(CommandLine, RefusesASecondInputFile) {
  const auto message = error_message(ErrorKind::usage, [] { (void)parse({"a.toml", "b.toml"}); });
  EXPECT_NE(message.find("'b.toml'"), std::string::npos) << message;
}

TEST(CommandLine, RefusesAFlagWithoutItsValue) {
  const auto message = error_message(ErrorKind::usage, [] { (void)parse({"--steps"}); });
  EXPECT_NE(message.find("--steps"), std::string::npos) << message;
}

TEST(CommandLine, RefusesSetWithoutAnEqualsSign) {
  const auto message = error_message(ErrorKind::usage, [] { (void)parse({"--set", "run.steps"}); });
  EXPECT_NE(message.find("section.key=value"), std::string::npos) << message;
}

TEST(CommandLine, AnswersHelpWithEveryFlagAndTheExitCodes) {
  const auto line = parse({"--help"});
  ASSERT_TRUE(line.text_only);
  for (const char* part : {"--set", "--steps", "--restart", "--out", "--transport", "--initiation",
                           "--ranks-grid", "--verify", "--check", "--env", "--json", "--quiet", "--version",
                           "--overlap", "off, host", "a demonstration", "3 verification failed"}) {
    EXPECT_NE(line.text_only->find(part), std::string::npos) << part;
  }
}

TEST(CommandLine, AnswersVersion) {
  EXPECT_EQ(parse({"--version"}).text_only, "demo 1.2.3\n");
}

TEST(CommandLine, LeavesKokkosItsArguments) {
  const auto line = parse({"--kokkos-num-threads=2", "--quiet"});
  EXPECT_EQ(line.kokkos, Texts{"--kokkos-num-threads=2"});
  EXPECT_TRUE(line.quiet);
}

TEST(CommandLine, RemembersTheLineAsTyped) {
  EXPECT_EQ(parse({"a.toml", "--steps", "3"}).as_typed, "demo a.toml --steps 3");
}

}  // namespace
