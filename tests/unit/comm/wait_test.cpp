#include "runtime/wait.hpp"

#include <selvage/error.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

namespace selvage::detail {
namespace {

using namespace std::chrono_literals;

class WaitUntil : public testing::TestWithParam<bool> {};

TEST_P(WaitUntil, EndsWithinItsTimeAndNamesWhoIsLate) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    wait_until(
        50ms, GetParam(), [] { return false; }, [] { return "rank 7"; });
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::timeout);
    EXPECT_EQ(error.message(), "waited 50 ms for rank 7");
  }
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 50ms);
}

TEST_P(WaitUntil, ReturnsOnceItIsDone) {
  int polls = 0;
  const auto done = [&] { return ++polls == 3000; };
  EXPECT_NO_THROW(wait_until(10min, GetParam(), done, [] { return ""; }));
  EXPECT_EQ(polls, 3000);
}

TEST_P(WaitUntil, TakesDoneForAnAnswerWithoutLookingAtTheClock) {
  EXPECT_NO_THROW(wait_until(
      0ms, GetParam(), [] { return true; }, [] { return ""; }));
}

TEST_P(WaitUntil, AsksWhoIsLateOnlyOnceItIsTooLate) {
  int asked = 0;
  int polls = 0;
  wait_until(
      10min, GetParam(), [&] { return ++polls == 1000; }, [&] { return std::to_string(++asked); });
  EXPECT_EQ(asked, 0);
}

/// As where ranks share cores: a poll then takes a time slice of each of the others.
TEST_P(WaitUntil, EndsSoonWherePollsTakeLong) {
  int polls = 0;
  const auto slowly = [&] {
    std::this_thread::sleep_for(10ms);
    ++polls;
    return false;
  };
  EXPECT_THROW(wait_until(50ms, GetParam(), slowly, [] { return ""; }), Error);
  EXPECT_LE(polls, 24);
}

TEST_P(WaitUntil, LooksOnceMoreWhenItHadNoCoreForLong) {
  int polls = 0;
  const auto after_a_while = [&] {
    if (polls == 7) std::this_thread::sleep_for(100ms);
    return ++polls > 8;
  };
  EXPECT_NO_THROW(wait_until(50ms, GetParam(), after_a_while, [] { return ""; }));
}

INSTANTIATE_TEST_SUITE_P(YieldingOrNot, WaitUntil, testing::Bool());

TEST(Deadline, PassesOnlyAfterItsTime) {
  Deadline far(10min);
  for (int poll = 0; poll < 10'000; ++poll) EXPECT_FALSE(far.passed());
  Deadline past(0ms);
  bool passed = false;
  for (int poll = 0; poll < 10'000 && !passed; ++poll) passed = past.passed();
  EXPECT_TRUE(passed);
}

}  // namespace
}  // namespace selvage::detail
