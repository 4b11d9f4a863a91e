#include "text/cpu_list.hpp"

#include <gtest/gtest.h>

namespace selvage::topo {
namespace {

TEST(CpuList, JoinsRuns) {
  EXPECT_EQ(format_cpu_list({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(format_cpu_list({3}), "3");
  EXPECT_EQ(format_cpu_list({}), "none");
}

}  // namespace
}  // namespace selvage::topo
