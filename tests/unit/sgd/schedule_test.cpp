#include "sgd/model/schedule.hpp"

#include <gtest/gtest.h>

namespace selvage::sgd {
namespace {

TEST(Schedule, WarmsUpInALine) {
  const Schedule schedule{.peak = 0.4, .warmup_steps = 4, .steps = 104};
  EXPECT_DOUBLE_EQ(schedule.rate(0), 0.1);
  EXPECT_DOUBLE_EQ(schedule.rate(3), 0.4);
}

TEST(Schedule, FallsAsHalfACosine) {
  const Schedule schedule{.peak = 0.4, .warmup_steps = 4, .steps = 104};
  EXPECT_DOUBLE_EQ(schedule.rate(4), 0.4);
  EXPECT_NEAR(schedule.rate(54), 0.2, 1e-15);
  EXPECT_NEAR(schedule.rate(104), 0, 1e-15);
}

TEST(Schedule, AWarmUpMayBeAllThereIs) {
  const Schedule schedule{.peak = 1, .warmup_steps = 8, .steps = 4};
  EXPECT_DOUBLE_EQ(schedule.rate(3), 0.5);
}

}  // namespace
}  // namespace selvage::sgd
