#include "common/report.hpp"

#include "shared_directory.hpp"

#include <selvage/agreement.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace selvage;
using namespace app;
using app::testing_support::SharedDirectory;
using nlohmann::json;

Session make_session(std::vector<const char*> arguments = {}) {
  const AppInfo info{.name = "demo", .summary = "", .version = "1.2.3"};
  arguments.insert(arguments.begin(), "demo");
  auto line = parse_command_line(static_cast<int>(arguments.size()), arguments.data(), info);
  auto input = Input::parse("[grid]\ncells = [4, 5]\n[run]\ntolerance = 0.5\n", "in.toml", line.overrides);
  return Session(MPI_COMM_WORLD, info, std::move(line), std::move(input));
}

/// What finish() prints on this rank.
std::string printed_by_finish(Report& report, const std::string& dir = "") {
  testing::internal::CaptureStdout();
  report.finish(dir);
  return testing::internal::GetCapturedStdout();
}

TEST(Report, HoldsTheInputAsUsedAndWhereItCameFrom) {
  auto session = make_session({"--quiet", "--set", "case.name=x"});
  (void)session.input().list<int>("grid.cells", {});
  (void)session.input().get_text("case.name", "");
  (void)session.input().get<double>("run.tolerance", 0);
  (void)session.input().get_bool("run.verify", true);
  const json root = json::parse(Report(session).json());
  EXPECT_EQ(root["app"], "demo");
  EXPECT_EQ(root["version"], "1.2.3");
  EXPECT_EQ(root["command"], "demo --quiet --set case.name=x");
  EXPECT_EQ(root["input"]["grid"]["cells"], json({4, 5}));
  EXPECT_EQ(root["input"]["run"]["tolerance"], 0.5);
  EXPECT_EQ(root["input"]["run"]["verify"], true);
  EXPECT_EQ(root["input_origin"]["grid.cells"], "in.toml:2");
  EXPECT_EQ(root["input_origin"]["case.name"], "--set");
  EXPECT_EQ(root["input_origin"]["run.verify"], "default");
}

TEST(Report, HoldsDecisionsResultsTimesAndFigures) {
  auto session = make_session({"--quiet"});
  Report report(session);
  report.decide("transport: peer\nwhy: same host");
  report.result("error", 0.1 + 0.2);
  report.result("steps", std::int64_t{7});
  report.result("case", "x");
  report.verify("norm", true, "fine");
  Breakdown breakdown("demo", true);
  breakdown.add(breakdown.phase("halo"), 2.0);
  report.breakdown(breakdown);
  report.figure_of_merit(1.5, "GLUPS");
  const json root = json::parse(report.json());
  EXPECT_EQ(root["decisions"], json({"transport: peer", "why: same host"}));
  EXPECT_EQ(root["results"]["error"], 0.1 + 0.2);
  EXPECT_EQ(root["results"]["steps"], 7);
  EXPECT_EQ(root["results"]["case"], "x");
  EXPECT_EQ(root["breakdown"][0]["phase"], "halo");
  EXPECT_EQ(root["breakdown"][0]["max_s"], 2.0);
  EXPECT_EQ(root["verify"][0]["ok"], true);
  EXPECT_EQ(root["fom"]["value"], 1.5);
  EXPECT_EQ(root["fom"]["unit"], "GLUPS");
}

TEST(Report, HasNoTimesOfPhasesThatWereNotMeasured) {
  auto session = make_session();
  Report report(session);
  Breakdown breakdown("demo", false);
  static_cast<void>(breakdown.phase("halo"));
  report.breakdown(breakdown);
  EXPECT_EQ(json::parse(report.json())["breakdown"], json::array());
  EXPECT_EQ(printed_by_finish(report), "");
}

TEST(Report, DescribesBuildLibrariesAndMachine) {
  auto session = make_session();
  const json environment = json::parse(Report(session).json())["environment"];
  for (const char* name :
       {"commit", "compiler", "Kokkos", "MPI", "MPI threads", "HDF5", "GPUs", "ranks", "hosts"}) {
    ASSERT_TRUE(environment.contains(name)) << name;
    EXPECT_NE(environment[name], "") << name;
  }
  EXPECT_EQ(environment["ranks"], std::to_string(session.ranks()));
  const std::string text = Report(session).environment_text();
  EXPECT_NE(text.find("\nKokkos: "), std::string::npos) << text;
}

TEST(Report, EndsWithVerifyLinesAndTheFigureOfMerit) {
  auto session = make_session();
  Report report(session);
  report.verify("norm", true, "fine");
  report.figure_of_merit(1.5, "GLUPS");
  EXPECT_EQ(printed_by_finish(report), session.is_root() ? "VERIFY ok norm: fine\nFOM: 1.5 GLUPS\n" : "");
  EXPECT_EQ(session.exit_code(), 0);
}

TEST(Report, MakesTheProgramFailWhereAVerificationFails) {
  auto session = make_session({"--quiet"});
  Report report(session);
  report.verify("norm", false, "0.5 is not 0.25");
  EXPECT_EQ(printed_by_finish(report), session.is_root() ? "VERIFY failed norm: 0.5 is not 0.25\n" : "");
  EXPECT_EQ(session.exit_code(), 3);
}

TEST(Report, PrintsOnlyJsonWhereThatIsAskedFor) {
  auto session = make_session({"--json"});
  testing::internal::CaptureStdout();
  Report report(session);
  report.decide("a decision");
  report.figure_of_merit(1.5, "GLUPS");
  report.finish("");
  const std::string text = testing::internal::GetCapturedStdout();
  if (session.is_root()) {
    EXPECT_EQ(json::parse(text)["fom"]["value"], 1.5);
  } else {
    EXPECT_EQ(text, "");
  }
}

TEST(Report, PrintsDecisionsAtOnceUnlessQuiet) {
  for (const bool quiet : {false, true}) {
    auto session = quiet ? make_session({"--quiet"}) : make_session();
    Report report(session);
    testing::internal::CaptureStdout();
    report.decide("a\nb");
    EXPECT_EQ(testing::internal::GetCapturedStdout(), session.is_root() && !quiet ? "a\nb\n" : "");
  }
}

TEST(Report, WritesRunJsonInOnePiece) {
  const SharedDirectory dir;
  auto session = make_session({"--quiet"});
  Report report(session);
  report.result("undefined", std::numeric_limits<double>::quiet_NaN());
  report.result("odd \xff name", "\xff");
  (void)printed_by_finish(report, dir.path());
  MPI_Barrier(MPI_COMM_WORLD);
  std::ifstream file(dir / "run.json");
  EXPECT_TRUE(json::parse(file)["results"]["undefined"].is_null());
  EXPECT_FALSE(std::filesystem::exists(dir / "run.json.partial"));
}

TEST(Report, FailsOnAllRanksWhereItsFileCannotBeWritten) {
  auto session = make_session({"--quiet"});
  Report report(session);
  EXPECT_THROW(report.finish("/nonexistent"), AgreedError);
}

}  // namespace
