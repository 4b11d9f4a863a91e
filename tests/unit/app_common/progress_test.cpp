#include "common/progress.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

namespace {

using selvage::app::Progress;
using selvage::app::progress_line;

TEST(Progress, ShowsShareRateAndTimeLeft) {
  EXPECT_EQ(progress_line(0, 250, 1000, 10.0), "250/1000 steps  25 %  25 steps/s  ETA 0:30");
}

TEST(Progress, CountsFromTheStepOfARestart) {
  EXPECT_EQ(progress_line(500, 750, 1000, 10.0), "750/1000 steps  50 %  25 steps/s  ETA 0:10");
}

TEST(Progress, ShowsHoursWhenItTakesHours) {
  EXPECT_EQ(progress_line(0, 1, 3662, 1.0), "1/3662 steps  0 %  1 steps/s  ETA 1:01:01");
}

TEST(Progress, PromisesNothingBeforeTheFirstStep) {
  EXPECT_EQ(progress_line(0, 0, 1000, 0.0), "0/1000 steps  0 %");
  EXPECT_EQ(progress_line(5, 5, 5, 1.0), "5/5 steps  0 %");
}

TEST(Progress, PrintsNothingWhereNobodyWatches) {
  testing::internal::CaptureStdout();
  {
    Progress progress(false, 0, 10);
    for (int step = 0; step < 10; ++step) progress.update(step);
  }
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(Progress, RewritesItsLineAndLeavesNoneBehind) {
  testing::internal::CaptureStdout();
  {
    Progress progress(true, 0, 10);
    progress.update(4);
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    progress.update(5);
  }
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(text.starts_with("\r\033[K5/10 steps  50 %")) << text;
  EXPECT_TRUE(text.ends_with("\r\033[K")) << text;
}

}  // namespace
