#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace selvage::test {

/// A command that has ended.
struct Ended {
  int exit_code = -1;
  std::string output;  ///< standard output and standard error together, unless the command says otherwise
};

inline Ended shell(const std::string& command) {
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

/// Comes before GTEST_SKIP(): a line of the form that whoever runs all tests looks for.
inline void say_skipped(const std::string& reason) {
  std::printf("skipped: %s\n", reason.c_str());
  (void)std::fflush(stdout);
}

/// How often a part occurs in a text.
inline int occurrences(const std::string& text, const std::string& part) {
  int count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace selvage::test
