#pragma once

#include "../../support/shell.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace selvage::topo {

using test::Ended;
using test::occurrences;
using test::shell;

inline Ended tool(const std::string& arguments) {
  return shell(fmt::format("'{}' {}", SELVAGE_TOPO_TOOL, arguments));
}

inline Ended tool_on(int ranks, const std::string& arguments) {
  return shell(fmt::format("{} {} '{}' {}", SELVAGE_MPIEXEC, ranks, SELVAGE_TOPO_TOOL, arguments));
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
