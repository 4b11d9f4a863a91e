#include "common/csv.hpp"

#include "expect_error.hpp"
#include "file_size_limit.hpp"
#include "temporary_directory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>

namespace {

using namespace selvage;
using app::CsvHistory;
using namespace app::testing_support;

CsvHistory open(const std::string& path, std::optional<std::int64_t> first_new_step = std::nullopt) {
  return CsvHistory(path, {"step", "a", "b"}, first_new_step);
}

TEST(CsvHistory, IsOnTheDiskAfterEachRow) {
  const TemporaryDirectory dir;
  auto history = open(dir / "n.csv");
  EXPECT_EQ(read_text(dir / "n.csv"), "step,a,b\n");
  history.append(0, std::array{1.0, 0.5});
  EXPECT_EQ(read_text(dir / "n.csv"), "step,a,b\n0,1,0.5\n");
  history.append(10, std::array{1e-300, -2.0});
  EXPECT_EQ(read_text(dir / "n.csv"), "step,a,b\n0,1,0.5\n10,1e-300,-2\n");
  EXPECT_FALSE(std::filesystem::exists(dir / "n.csv.partial"));
}

TEST(CsvHistory, WritesNumbersThatReadBackWithTheSameBits) {
  const TemporaryDirectory dir;
  const double value = 0.1 + 0.2;
  open(dir / "n.csv").append(1, std::array{value, std::nan("")});
  const std::string text = read_text(dir / "n.csv");
  EXPECT_EQ(std::stod(text.substr(text.find("\n1,") + 3)), value);
  EXPECT_TRUE(text.ends_with(",\n")) << "NaN is an empty cell: " << text;
}

TEST(CsvHistory, ReplacesAnEarlierRunsFile) {
  const TemporaryDirectory dir;
  open(dir / "n.csv").append(1, std::array{1.0, 1.0});
  auto history = open(dir / "n.csv");
  EXPECT_EQ(read_text(dir / "n.csv"), "step,a,b\n");
}

TEST(CsvHistory, KeepsEarlierRowsAndDropsLaterOnesOnRestart) {
  const TemporaryDirectory dir;
  {
    auto history = open(dir / "n.csv");
    for (const int step : {0, 10, 20, 30}) history.append(step, std::array{1.0, 2.0});
  }
  auto history = open(dir / "n.csv", 20);
  EXPECT_EQ(read_text(dir / "n.csv"), "step,a,b\n0,1,2\n10,1,2\n");
  history.append(20, std::array{3.0, 4.0});
  EXPECT_EQ(read_text(dir / "n.csv"), "step,a,b\n0,1,2\n10,1,2\n20,3,4\n");
}

TEST(CsvHistory, DropsATornLastLineOnRestart) {
  const TemporaryDirectory dir;
  write_text(dir / "n.csv", "step,a,b\n0,1,2\n1,1");
  auto history = open(dir / "n.csv", 20);
  EXPECT_EQ(read_text(dir / "n.csv"), "step,a,b\n0,1,2\n");
}

TEST(CsvHistory, StartsAnewOnRestartIntoAnotherDirectory) {
  const TemporaryDirectory dir;
  auto history = open(dir / "n.csv", 20);
  EXPECT_EQ(read_text(dir / "n.csv"), "step,a,b\n");
}

TEST(CsvHistory, RefusesToContinueAFileWithOtherColumns) {
  const TemporaryDirectory dir;
  write_text(dir / "n.csv", "step,c\n0,1\n");
  const auto message = error_message(ErrorKind::input, [&] { open(dir / "n.csv", 20); });
  EXPECT_NE(message.find("'step,c', not 'step,a,b'"), std::string::npos) << message;
  EXPECT_EQ(read_text(dir / "n.csv"), "step,c\n0,1\n");
}

TEST(CsvHistory, RefusesARowOfAnotherLength) {
  const TemporaryDirectory dir;
  auto history = open(dir / "n.csv");
  EXPECT_NE(error_message(ErrorKind::usage, [&] { history.append(0, std::array{1.0}); }), "");
}

TEST(CsvHistory, NamesThePathAndTheReasonWhenItCannotBeMade) {
  const auto message = error_message(ErrorKind::io, [] { open("/nonexistent/n.csv"); });
  EXPECT_EQ(message, "cannot create /nonexistent/n.csv.partial: No such file or directory");
}

TEST(CsvHistory, EndsWithTheLastCompleteRowWhenTheDiskIsFull) {
  const TemporaryDirectory dir;
  auto history = open(dir / "n.csv");
  history.append(0, std::array{1.0, 2.0});
  const FileSizeLimit full(std::filesystem::file_size(dir / "n.csv") + 3);
  const auto message = error_message(ErrorKind::io, [&] { history.append(1, std::array{1.0, 2.0}); });
  EXPECT_EQ(message, "cannot append to " + (dir / "n.csv") + ": File too large");
  EXPECT_EQ(read_text(dir / "n.csv"), "step,a,b\n0,1,2\n");
}

}  // namespace
