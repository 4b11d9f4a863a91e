#include "expect_error.hpp"
#include "file_size_limit.hpp"
#include "temporary_directory.hpp"

#include <selvage/atomic_file.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace {

using namespace selvage;
using namespace app::testing_support;

TEST(AtomicFile, ReplacesAFile) {
  const TemporaryDirectory dir;
  replace_file(dir / "a", "one");
  replace_file(dir / "a", "two");
  EXPECT_EQ(read_text(dir / "a"), "two");
  EXPECT_FALSE(std::filesystem::exists(dir / "a.partial"));
}

TEST(AtomicFile, KeepsTheEarlierFileWhenTheDiskIsFull) {
  const TemporaryDirectory dir;
  replace_file(dir / "a", "one");
  const FileSizeLimit full(1000);
  const auto message = error_message(ErrorKind::io, [&] { replace_file(dir / "a", std::string(5000, 'x')); });
  EXPECT_EQ(message, "cannot write " + (dir / "a") + ": File too large");
  EXPECT_EQ(read_text(dir / "a"), "one");
  EXPECT_FALSE(std::filesystem::exists(dir / "a.partial"));
}

TEST(AtomicFile, ReportsADirectoryInItsWay) {
  const TemporaryDirectory dir;
  std::filesystem::create_directory(dir / "a");
  const auto message = error_message(ErrorKind::io, [&] { replace_file(dir / "a", "one"); });
  EXPECT_EQ(message, "cannot write " + (dir / "a") + ": Is a directory");
  EXPECT_FALSE(std::filesystem::exists(dir / "a.partial"));
}

TEST(AtomicFile, WritesIntoDevices) {
  replace_file("/dev/null", "one");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_EQ(error_message(ErrorKind::io, [] { replace_file("/dev/full", "one"); }),
            "cannot write /dev/full: No space left on device");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST(AtomicFile, ReservesNothingBeyondTheLimit) {
  const TemporaryDirectory dir;
  const FileSizeLimit full(1000);
  reserve_file(dir / "small", 1000);
  EXPECT_TRUE(std::filesystem::exists(dir / "small"));
  const auto message = error_message(ErrorKind::io, [&] { reserve_file(dir / "big", 5000); });
  EXPECT_EQ(message, "cannot write 5000 bytes to " + (dir / "big") + ": File too large");
  EXPECT_FALSE(std::filesystem::exists(dir / "big"));
}

TEST(AtomicFile, RefusesMoreThanTheDiskHolds) {
  const TemporaryDirectory dir;
  const auto free_bytes = std::filesystem::space(dir.path()).available;
  EXPECT_NE(error_message(ErrorKind::io, [&] { reserve_file(dir / "big", 2 * free_bytes + (1 << 20)); }), "");
  EXPECT_FALSE(std::filesystem::exists(dir / "big"));
}

TEST(AtomicFile, HoldsRoomWithoutTouchingTheContent) {
  const TemporaryDirectory dir;
  write_text(dir / "a", "content");
  hold_room(dir / "a", 1 << 16);
  EXPECT_EQ(read_text(dir / "a"), "content");
}

}  // namespace
