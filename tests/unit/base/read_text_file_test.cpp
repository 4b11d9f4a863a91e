#include "open_files_limit.hpp"

#include <selvage/error.hpp>
#include <selvage/read_text_file.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace selvage {
namespace {

class ReadTextFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "selvage-read-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] static std::string refusal(const std::string& path, std::size_t most_bytes = 1000) {
    try {
      static_cast<void>(read_text_file(path, most_bytes));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      return error.message();
    }
    return "nothing was thrown";
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(ReadTextFile, GivesAllBytes) {
  const std::string text = "line\n" + std::string(200'000, 'x') + std::string("\0y", 2);
  std::ofstream(path("file"), std::ios::binary) << text;
  EXPECT_EQ(read_text_file(path("file")), text);
}

TEST_F(ReadTextFile, GivesWhatSaysThatItIsEmpty) {
  EXPECT_FALSE(read_text_file("/proc/self/status").empty());
}

TEST_F(ReadTextFile, RefusesMoreThanAskedFor) {
  std::ofstream(path("file")) << std::string(1001, 'x');
  EXPECT_EQ(refusal(path("file")), path("file") + " holds more than 1000 bytes");
}

/// The file is right, so it isn't the input that is refused.
TEST_F(ReadTextFile, SaysThatTooManyFilesAreOpen) {
  std::ofstream(path("file")) << "text";
  const app::testing_support::OpenFilesLimit none_more(0);
  try {
    static_cast<void>(read_text_file(path("file")));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_EQ(error.message(), "cannot read " + path("file") + ": Too many open files");
  }
}

/// Nobody writes to the pipe: without its look, opening it waits for ever.
TEST_F(ReadTextFile, RefusesWhatIsNoFile) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(refusal(path("pipe")), "cannot read " + path("pipe") + ": it is a pipe, not a file");
  EXPECT_EQ(refusal("/dev/zero"), "cannot read /dev/zero: it is a device, not a file");
  EXPECT_EQ(refusal("/"), "cannot read /: Is a directory");
}

TEST_F(ReadTextFile, GivesTheReasonOfTheSystem) {
  EXPECT_EQ(refusal(path("none")), "cannot read " + path("none") + ": No such file or directory");
  std::filesystem::create_symlink(path("loop"), path("loop"));
  EXPECT_EQ(refusal(path("loop")), "cannot read " + path("loop") + ": Too many levels of symbolic links");
  EXPECT_EQ(refusal("/proc/self/mem"), "cannot read /proc/self/mem: Input/output error");
}

}  // namespace
}  // namespace selvage
