#include "mutation.hpp"

#include <selvage/topo/pattern.hpp>
#include <selvage/topo/traffic_file.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace selvage::topo {
namespace {

constexpr const char* header = "from,to,host_bytes,host_messages,device_bytes,device_messages\n";

Traffic sample() {
  return Traffic(5, {{0, 1, {10, 1}, {20, 2}}, {3, 0, {18446744073709551615u, 7}, {}}, {2, 2, {}, {4, 1}}});
}

std::string temporary(const std::string& name) {
  return (std::filesystem::temp_directory_path() / ("selvage-" + std::to_string(getpid()) + "-" + name))
      .string();
}

TEST(TrafficCsv, GivesBackWhatWasWritten) {
  EXPECT_EQ(traffic_from_csv(traffic_to_csv(sample()), "x"), sample());
  const Traffic silent(4, {});
  EXPECT_EQ(traffic_from_csv(traffic_to_csv(silent), "x"), silent);
}

TEST(TrafficCsv, ReadsBlanksWindowsLinesAndGivenRanks) {
  const std::string text =
      "from, to,host_bytes,host_messages,device_bytes,device_messages\r\n 0 , 1,1,1,0,0\r\n\r\n";
  EXPECT_EQ(traffic_from_csv(text, "x", 7).rank_count(), 7);
  EXPECT_EQ(traffic_from_csv(text, "x").rank_count(), 2);
}

TEST(TrafficCsv, NamesFileAndLineOfWhatIsWrong) {
  const auto message = [](const std::string& rows) {
    return input_error([&] { (void)traffic_from_csv(header + rows, "t.csv"); });
  };
  EXPECT_EQ(message("0,1,1,1,0,0\n0,1,1,1,0\n"), "t.csv:3: 5 fields instead of 6");
  EXPECT_EQ(message("0,1,-4,1,0,0\n"), "t.csv:2: host_bytes '-4' is not a whole number of 0 or more");
  EXPECT_EQ(message("0,1,nan,1,0,0\n"), "t.csv:2: host_bytes 'nan' is not a whole number of 0 or more");
  EXPECT_EQ(message("0,1,1,1,1.5,0\n"), "t.csv:2: device_bytes '1.5' is not a whole number of 0 or more");
  EXPECT_EQ(message("0,1,1,1,,0\n"), "t.csv:2: device_bytes '' is not a whole number of 0 or more");
  EXPECT_EQ(message("0,1,18446744073709551616,1,0,0\n"),
            "t.csv:2: host_bytes '18446744073709551616' passes 64 bits");
  EXPECT_EQ(message("0,2000000,1,1,0,0\n"), "t.csv:2: to '2000000' of at most 1048576 ranks");
  EXPECT_EQ(message("0,1,18446744073709551615,1,0,0\n0,1,1,1,0,0\n"),
            "t.csv: bytes between two ranks pass 64 bits");
  EXPECT_EQ(message(""), "t.csv: no row tells the number of ranks");
  EXPECT_EQ(input_error([] { (void)traffic_from_csv("a,b\n", "t.csv"); }),
            "t.csv:1: the header is 'a,b' instead of "
            "'from,to,host_bytes,host_messages,device_bytes,device_messages'");
  EXPECT_EQ(input_error([] { (void)traffic_from_csv(std::string(header) + "0,3,1,1,0,0\n", "t.csv", 3); }),
            "t.csv:2: to '3' of at most 3 ranks");
}

TEST(TrafficCsv, SurvivesMutations) {
  expect_only_input_errors(traffic_to_csv(sample()),
                           [](const std::string& text) { (void)traffic_from_csv(text, "x"); });
}

TEST(TrafficFile, NamesAFileThatIsNotThere) {
  EXPECT_EQ(input_error([] { (void)read_traffic("/nowhere/t.csv"); }),
            "cannot read /nowhere/t.csv: No such file or directory");
}

TEST(TrafficFile, ChoosesCsvByItsName) {
  const std::string path = temporary("t.csv");
  write_traffic(path, sample());
  EXPECT_EQ(read_traffic(path), sample());
  std::filesystem::remove(path);
  EXPECT_THROW(write_traffic("/nowhere/t.csv", sample()), Error);
}

TEST(TrafficFile, RefusesOrReadsHdf5AsBuilt) {
  const std::string path = temporary("t.h5");
  if (!has_hdf5()) {
    EXPECT_THROW(write_traffic(path, sample()), Error);
    return;
  }
  write_traffic(path, sample());
  EXPECT_EQ(read_traffic(path), sample());
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace selvage::topo
