#pragma once

#include "mpiexec.hpp"
#include "shell.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace selvage::topo {

using test::Ended;
using test::occurrences;
using test::shell;

/// As a user starts it who has no launcher.
inline Ended tool_as_it_is(const std::string& arguments) {
  return shell(fmt::format("'{}' {}", SELVAGE_TOPO_TOOL, arguments));
}

/// The same without what Open MPI does at the start of a lone process: a daemon for processes that it might spawn, and a look
/// for networks. That is most of the time that the tool takes; other MPIs know nothing of these variables.
inline Ended tool(const std::string& arguments) {
  return shell(fmt::format("OMPI_MCA_ess_singleton_isolated=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self '{}' {}",
                           SELVAGE_TOPO_TOOL, arguments));
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
