#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace selvage::topo {

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

inline Ended tool(const std::string& arguments) {
  return shell(fmt::format("'{}' {}", SELVAGE_TOPO_TOOL, arguments));
}

inline Ended tool_on(int ranks, const std::string& arguments) {
  return shell(fmt::format("{} {} '{}' {}", SELVAGE_MPIEXEC, ranks, SELVAGE_TOPO_TOOL, arguments));
}

inline int occurrences(const std::string& text, const std::string& part) {
  int count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class TopoTool : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("SELVAGE_LOGICAL_HOSTS");
    setenv("SELVAGE_PROBES", "off", 1);  // whoever runs this may have saved some
  }
  void TearDown() override { unsetenv("SELVAGE_LOGICAL_HOSTS"); }
};

}  // namespace selvage::topo
