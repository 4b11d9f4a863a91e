#include "collectives/allreduce_table.hpp"

#include "collectives/allreduce_table_file.hpp"
#include "temporary_directory.hpp"

#include <selvage/error.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace selvage::detail {
namespace {

using app::testing_support::TemporaryDirectory;
using app::testing_support::write_text;

const AllreduceJob four_ranks{.machine = "1 x Some CPU (8 cores)",
                              .ranks = 4,
                              .ranks_per_host = "4",
                              .ranks_share_cores = false,
                              .memory = "host",
                              .type = "fp32"};

AllreduceRow row(std::int64_t bytes, const std::string& best,
                 const std::map<std::string, double>& median_us) {
  return {.bytes = bytes,
          .best = best,
          .median_us = median_us,
          .operation = "sum",
          .version = "0.1.0",
          .date = "2026-01-02"};
}

AllreduceTable table_of(const std::vector<AllreduceRow>& rows, const AllreduceJob& job = four_ranks) {
  AllreduceTable table;
  table.merge(job, rows);
  return AllreduceTable::parse(table.to_text(), "some.json");
}

AllreduceTable sample() {
  return table_of({row(1024, "one_shot", {{"one_shot", 2}, {"two_shot", 3}}),
                   row(4096, "two_shot", {{"one_shot", 5}, {"two_shot", 4}})});
}

std::string best_at(const AllreduceTable& table, std::int64_t bytes) {
  const AllreduceAdvice advice = table.advise(four_ranks, bytes);
  return advice.algorithms.empty() ? "none" : advice.algorithms.front();
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(AllreduceTable::parse(text, "some.json"));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.message();
  }
  return "nothing was thrown";
}

/// The sample's text with one part of it replaced.
std::string sample_with(const std::string& part, const std::string& by) {
  std::string text = sample().to_text();
  const auto at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), by);
}

TEST(AllreduceTable, TakesTheNearestRowAtOrBelowASize) {
  const AllreduceTable table = sample();
  EXPECT_EQ(best_at(table, 1024), "one_shot");
  EXPECT_EQ(best_at(table, 4095), "one_shot");
  EXPECT_EQ(best_at(table, 4096), "two_shot");
}

TEST(AllreduceTable, SaysNothingOutsideItsSizes) {
  const AllreduceTable table = sample();
  EXPECT_EQ(best_at(table, 1023), "none");
  EXPECT_EQ(best_at(table, 4097), "none");
  EXPECT_EQ(table.advise(four_ranks, 4097).why, "some.json has rows from 1024 to 4096 bytes");
}

TEST(AllreduceTable, NamesTheRowThatItTakes) {
  EXPECT_EQ(sample().advise(four_ranks, 2000).why,
            "row of 1024 bytes in some.json: one_shot took 2 us on 2026-01-02");
}

TEST(AllreduceTable, KeepsJobsApart) {
  const AllreduceTable table = sample();
  std::vector<AllreduceJob> others(6, four_ranks);
  others[0].machine = "1 x Some CPU (16 cores)";
  others[1].ranks = 8;
  others[2].ranks_per_host = "2";
  others[3].ranks_share_cores = true;
  others[4].memory = "gpu";
  others[5].type = "fp64";
  for (const AllreduceJob& other : others) {
    EXPECT_TRUE(table.advise(other, 1024).algorithms.empty()) << describe(other);
    EXPECT_EQ(table.advise(other, 1024).why, "some.json has nothing for " + describe(other));
  }
}

TEST(AllreduceTable, ListsAlgorithmsFromTheBestToTheSlowest) {
  // The best need not have the shortest median: ratios within rounds decide.
  const AllreduceTable table =
      table_of({row(64, "two_shot", {{"mpi", 9}, {"one_shot", 2.9}, {"two_shot", 3}})});
  EXPECT_EQ(table.advise(four_ranks, 64).algorithms,
            (std::vector<std::string>{"two_shot", "one_shot", "mpi"}));
}

TEST(AllreduceTable, MergesRowsAndKeepsWhatIsOlder) {
  AllreduceTable table = sample();
  table.merge(four_ranks, {row(4096, "mpi", {{"mpi", 1}}), row(8192, "mpi", {{"mpi", 2}})});
  AllreduceJob two_ranks = four_ranks;
  two_ranks.ranks = 2;
  table.merge(two_ranks, {row(1024, "mpi", {{"mpi", 7}})});
  const AllreduceTable read = AllreduceTable::parse(table.to_text(), "some.json");
  EXPECT_EQ(best_at(read, 1024), "one_shot");
  EXPECT_EQ(best_at(read, 4096), "mpi");
  EXPECT_EQ(best_at(read, 8192), "mpi");
  EXPECT_EQ(read.advise(two_ranks, 1024).algorithms.front(), "mpi");
  EXPECT_EQ(read.to_text(), table.to_text());
}

TEST(AllreduceTable, SurvivesItsText) {
  AllreduceRow full = row(64, "mpi", {{"mpi", 0.123456789}});
  full.skipped = {{"hierarchical", "it is not for \"GPUs\""}};
  const std::string text = table_of({full}).to_text();
  EXPECT_EQ(AllreduceTable::parse(text, "other.json").to_text(), text);
  for (const char* part : {"0.123456789", R"(it is not for \"GPUs\")", "\"sum\"", "0.1.0", "2026-01-02"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

TEST(AllreduceTable, SaysWhereTextIsNotJson) {
  const std::string message = refusal("{\n  \"format\": oops\n}");
  EXPECT_NE(message.find("allreduce table some.json is not JSON: "), std::string::npos) << message;
  EXPECT_NE(message.find("line 2"), std::string::npos) << message;
  EXPECT_NE(refusal("").find("is not JSON"), std::string::npos);
}

TEST(AllreduceTable, SaysWhatItExpectedWhere) {
  const std::string rows = "allreduce table some.json: the file.series[0].rows[0]";
  EXPECT_EQ(refusal("[]"), "allreduce table some.json: the file must be an object, but is []");
  EXPECT_EQ(refusal(sample_with("table 1\"", "table 9\"")),
            "allreduce table some.json: the file.format must be \"selvage allreduce table 1\", but is "
            "\"selvage allreduce table 9\"");
  EXPECT_EQ(refusal(sample_with("\"bytes\": 1024", "\"bytes\": \"1K\"")),
            rows + ".bytes must be a whole number from 0, but is \"1K\"");
  EXPECT_EQ(refusal(sample_with("\"bytes\": 1024", "\"bytes\": -1")),
            rows + ".bytes must be a whole number from 0, but is -1");
  EXPECT_EQ(refusal(sample_with("\"one_shot\": 2.0", "\"one_shot\": 0")),
            rows + ".median_us.one_shot must be a number above 0, but is 0");
  EXPECT_EQ(refusal(sample_with("\"best\": \"one_shot\"", "\"best\": \"three_shot\"")),
            rows + ".best must be one of the algorithms in \"median_us\" beside it, but is \"three_shot\"");
  EXPECT_EQ(refusal(sample_with("\"ranks\": 4", "\"ranks\": 0")),
            "allreduce table some.json: the file.series[0].ranks must be a whole number from 1, but is 0");
  EXPECT_EQ(
      refusal(sample_with("\"ranks_share_cores\": false", "\"ranks_share_cores\": 0")),
      "allreduce table some.json: the file.series[0].ranks_share_cores must be true or false, but is 0");
  EXPECT_EQ(refusal(sample_with("\"machine\": \"1 x Some CPU (8 cores)\"", "\"machine\": \"\"")),
            "allreduce table some.json: the file.series[0].machine must be a text, but is \"\"");
}

TEST(AllreduceTable, RefusesTwoRowsOfOneSizeAndTwoSeriesOfOneJob) {
  EXPECT_NE(refusal(sample_with("\"bytes\": 4096", "\"bytes\": 1024")).find("another size"),
            std::string::npos);
  std::string text = sample().to_text();
  const auto begin = text.find('[') + 1;
  const auto end = text.rfind(']');
  const std::string series = text.substr(begin, end - begin);
  text.insert(end, "," + series);
  EXPECT_NE(refusal(text).find("the file.series[1] must be of another job"), std::string::npos)
      << refusal(text);
}

TEST(AllreduceTable, SaysWhatIsMissing) {
  EXPECT_NE(refusal(sample_with("\"skipped\"", "\"skiped\"")).find("an object with \"skipped\""),
            std::string::npos);
}

TEST(AllreduceTable, IsReadFromAFile) {
  const TemporaryDirectory directory;
  write_text(directory / "table.json", sample().to_text());
  const AllreduceTable table = AllreduceTable::read(directory / "table.json");
  EXPECT_EQ(best_at(table, 1024), "one_shot");
  EXPECT_EQ(table.path(), directory / "table.json");
}

TEST(AllreduceTable, SaysWhyAFileCannotBeRead) {
  const TemporaryDirectory directory;
  for (const auto& [path, reason] : {std::pair(directory / "none.json", "No such file or directory"),
                                     std::pair(directory.path(), "Is a directory")}) {
    try {
      static_cast<void>(AllreduceTable::read(path));
      FAIL() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      EXPECT_EQ(error.message(), "cannot read " + path + ": " + reason);
    }
  }
}

TEST(AllreduceTable, EndsWithAFileThatHasNoEnd) {
  try {
    static_cast<void>(AllreduceTable::read("/dev/zero"));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(error.message(), "cannot read /dev/zero: it is a device, not a file");
  }
}

/// Environment variables for as long as this lives.
class AllreduceTablePlace : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"SELVAGE_ALLREDUCE_TABLE", "XDG_CONFIG_HOME", "HOME"}) {
      const char* value = std::getenv(name);
      if (value != nullptr) old_.emplace_back(name, value);
      unsetenv(name);
    }
  }
  void TearDown() override {
    for (const char* name : {"SELVAGE_ALLREDUCE_TABLE", "XDG_CONFIG_HOME", "HOME"}) unsetenv(name);
    for (const auto& [name, value] : old_) setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  std::vector<std::pair<std::string, std::string>> old_;
};

TEST_F(AllreduceTablePlace, IsNowhereWithoutAHome) {
  EXPECT_FALSE(allreduce_table_path().has_value());
}

TEST_F(AllreduceTablePlace, IsWhatTheVariableSaysThenTheConfigurationsThenBelowHome) {
  setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(allreduce_table_path()->path, "/home/someone/.config/selvage/allreduce.json");
  setenv("XDG_CONFIG_HOME", "/settings", 1);
  EXPECT_EQ(allreduce_table_path()->path, "/settings/selvage/allreduce.json");
  EXPECT_FALSE(allreduce_table_path()->is_named);
  setenv("SELVAGE_ALLREDUCE_TABLE", "mine.json", 1);
  EXPECT_EQ(allreduce_table_path()->path, "mine.json");
  EXPECT_TRUE(allreduce_table_path()->is_named);
  setenv("SELVAGE_ALLREDUCE_TABLE", "off", 1);
  EXPECT_FALSE(allreduce_table_path().has_value());
}

}  // namespace
}  // namespace selvage::detail
