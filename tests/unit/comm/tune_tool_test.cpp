#include "shell.hpp"
#include "temporary_directory.hpp"

#include <selvage/version.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace selvage {
namespace {

using app::testing_support::read_text;
using app::testing_support::TemporaryDirectory;
using app::testing_support::write_text;
using test::Ended;
using test::occurrences;

Ended run_on(int ranks, const std::string& program, const std::string& arguments) {
  return test::shell(fmt::format("{} {} '{}' {}", SELVAGE_MPIEXEC, ranks, program, arguments));
}

Ended tune_on(int ranks, const std::string& arguments) {
  return run_on(ranks, SELVAGE_TUNE_TOOL, arguments);
}

nlohmann::json read_json(const std::string& path) {
  return nlohmann::json::parse(read_text(path));
}

/// Alone and without a launcher, nor what Open MPI does at the start of a lone process: a daemon for processes that it might
/// spawn, and a look for networks. Other MPIs know nothing of these variables.
Ended tune_alone(const std::string& arguments) {
  return test::shell(
      fmt::format("OMPI_MCA_ess_singleton_isolated=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self '{}' {}",
                  SELVAGE_TUNE_TOOL, arguments));
}

/// Not even a user's own settings may be found, or written.
class TuneTool : public testing::Test {
 protected:
  TuneTool() { setenv("XDG_CONFIG_HOME", directory_.path().c_str(), 1); }
  ~TuneTool() override { unsetenv("XDG_CONFIG_HOME"); }

  TemporaryDirectory directory_;
  const std::string table_ = directory_ / "table.json";
};

TEST_F(TuneTool, WritesTheFastestOfEverySizeAndType) {
  const Ended ended = tune_on(2, fmt::format("--out '{}' --types fp32,fp64 --min 100 --max 256", table_));
  ASSERT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_EQ(occurrences(ended.output, fmt::format("wrote {}", table_)), 1) << ended.output;
  const auto json = read_json(table_);
  ASSERT_EQ(json.at("series").size(), 2u);
  EXPECT_EQ(json.at("series").at(1).at("type"), "fp64");
  const auto& series = json.at("series").at(0);
  EXPECT_EQ(series.at("type"), "fp32");
  EXPECT_EQ(series.at("ranks"), 2);
  std::vector<std::int64_t> sizes;
  for (const auto& row : series.at("rows")) {
    sizes.push_back(row.at("bytes"));
    const std::string best = row.at("best");
    EXPECT_GT(row.at("median_us").at(best), 0);
    // What was not measured says why.
    for (const char* algorithm :
         {"one_shot", "one_shot_ll128", "two_shot", "two_shot_push", "hierarchical", "mpi"}) {
      EXPECT_NE(row.at("median_us").contains(algorithm), row.at("skipped").contains(algorithm))
          << algorithm << " in " << row;
    }
    EXPECT_EQ(row.at("version"), std::string(selvage::version));
    EXPECT_EQ(row.at("operation"), "sum");
  }
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{128, 256}));
}

TEST_F(TuneTool, KeepsWhatOtherJobsHaveWritten) {
  ASSERT_EQ(tune_on(2, fmt::format("--out '{}' --types fp32 --min 64 --max 64", table_)).exit_code, 0);
  const auto before = read_json(table_).at("series").at(0);
  ASSERT_EQ(tune_on(3, fmt::format("--out '{}' --types fp32 --min 64 --max 64", table_)).exit_code, 0);
  ASSERT_EQ(tune_on(2, fmt::format("--out '{}' --types fp32 --min 128 --max 128", table_)).exit_code, 0);
  const auto after = read_json(table_).at("series");
  ASSERT_EQ(after.size(), 2u);
  EXPECT_EQ(after.at(0).at("rows").size(), 2u);
  EXPECT_EQ(after.at(0).at("rows").at(0), before.at("rows").at(0));
  EXPECT_EQ(after.at(1).at("ranks"), 3);
}

TEST_F(TuneTool, WritesWhereAContextLooks) {
  const Ended ended = tune_on(2, "--types fp32 --min 1K --max 1K");
  ASSERT_EQ(ended.exit_code, 0) << ended.output;
  const std::string path = directory_ / "selvage/allreduce.json";
  EXPECT_TRUE(std::filesystem::exists(path)) << ended.output;
  // Whoever looks there finds the row of this very job.
  const Ended reader = run_on(2, SELVAGE_TABLE_READER, "1024");
  EXPECT_EQ(reader.exit_code, 0);
  const std::string best = read_json(path).at("series").at(0).at("rows").at(0).at("best");
  EXPECT_EQ(occurrences(reader.output, fmt::format("{} (row of 1024 bytes in {}", best, path)), 1)
      << reader.output;
}

TEST_F(TuneTool, MeasuresEveryTypeAndOperation) {
  const auto expect_measured = [&](const std::string& operation, const std::string& types,
                                   std::size_t count) {
    const std::string path = directory_ / operation;
    const Ended ended = tune_on(
        2, fmt::format("--out '{}' --types {} --min 64 --max 64 --operation {}", path, types, operation));
    ASSERT_EQ(ended.exit_code, 0) << ended.output;
    const auto series = read_json(path).at("series");
    ASSERT_EQ(series.size(), count);
    for (const auto& one : series) EXPECT_EQ(one.at("rows").at(0).at("operation"), operation);
  };
  expect_measured("average", "fp64,fp32,fp16,bf16,int32,int64", 6);
  expect_measured("product", "fp16,int32", 2);
  expect_measured("min", "bf16", 1);
  expect_measured("max", "int64", 1);
}

TEST_F(TuneTool, LeavesAFileThatIsNoTableAlone) {
  write_text(table_, "something else\n");
  const Ended ended = tune_on(2, fmt::format("--out '{}' --min 64 --max 64", table_));
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(occurrences(ended.output, "selvage-tune: error: allreduce table"), 1) << ended.output;
  EXPECT_EQ(read_text(table_), "something else\n");
}

TEST_F(TuneTool, EndsWithOneAndOneMessageWhereItCannotWrite) {
  const Ended ended = tune_on(2, "--types fp32 --min 64 --max 64 --out /dev/null/table.json");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(occurrences(ended.output, "selvage-tune: error: cannot make /dev/null"), 1) << ended.output;
  EXPECT_EQ(occurrences(ended.output, "64 bytes"), 0) << "nothing is measured before:\n" << ended.output;
}

TEST_F(TuneTool, WritesIntoDevices) {
  if (!std::filesystem::is_character_file("/dev/full")) {
    test::say_skipped("a full device, since there is no /dev/full");
    GTEST_SKIP();
  }
  const Ended full = tune_on(2, "--types fp32 --min 64 --max 64 --out /dev/full");
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_EQ(occurrences(full.output, "cannot write /dev/full: No space left on device"), 1) << full.output;
  const Ended none = tune_on(2, "--types fp32 --min 64 --max 64 --out /dev/null");
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_EQ(occurrences(none.output, "wrote /dev/null"), 1) << none.output;
}

void expect_usage(const Ended& ended, const std::string& message) {
  EXPECT_EQ(ended.exit_code, 2) << ended.output;
  EXPECT_EQ(occurrences(ended.output, "selvage-tune: error: "), 1) << ended.output;
  EXPECT_EQ(occurrences(ended.output, "selvage-tune: error: " + message), 1) << ended.output;
}

TEST_F(TuneTool, RefusesOnceWhatSeveralRanksCannotFollow) {
  expect_usage(tune_on(2, "--type fp32"), "unknown option '--type', did you mean '--types'?");
  expect_usage(tune_on(1, ""), "one rank has nobody to combine with");
}

TEST_F(TuneTool, RefusesWhatItCannotFollow) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "one rank has nobody to combine with"},
      {"--operatin=sum", "unknown option '--operatin=sum', did you mean '--operation'?"},
      {"everything", "unknown argument 'everything'"},
      {"--types fp23", "unknown type 'fp23', did you mean 'fp32'?"},
      {"--operation sun", "unknown operation 'sun', did you mean 'sum'?"},
      {"--min 100 --max 120", "there is no power of two from --min 100 to --max 120"},
      {"--min 4", "--min 4: the smallest size is 8 bytes"},
      {"--max -1", "--max '-1' is no size: it is such as"},
      {"--max 0", "--max 0: the smallest size is 8 bytes"}};
  for (const auto& [arguments, message] : cases) expect_usage(tune_alone(arguments), message);
  for (const char* value : {"-1", "9223372036854775808", "1e400", "", "0x10", "5x", "1.5K", "2T"})
    expect_usage(tune_alone(fmt::format("--min '{}'", value)),
                 fmt::format("--min '{}' is no size: it is such as", value));
}

TEST_F(TuneTool, ExplainsItselfOnce) {
  const Ended help = tune_on(2, "--help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_EQ(occurrences(help.output, "Measures every allreduce algorithm"), 1) << help.output;
  const Ended version = tune_on(2, "--version");
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_EQ(version.output, fmt::format("selvage-tune {}\n", selvage::version));
}

}  // namespace
}  // namespace selvage
