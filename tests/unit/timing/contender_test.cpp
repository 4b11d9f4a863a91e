#include <selvage/error.hpp>
#include <selvage/timing/trial.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <type_traits>

namespace selvage::timing {
namespace {

constexpr auto check_nothing = [] {};
static_assert(!std::is_constructible_v<Check, decltype(check_nothing)>,
              "what holds nothing sees nothing of what was timed");
static_assert(
    !std::is_constructible_v<Contender, std::string, std::function<void()>, decltype(check_nothing)>);

TEST(Contenders, AreCheckedByWhatSeesTheirResult) {
  int result = 0;
  int seen = 0;
  const Contender contender(
      "adds", [&] { ++result; }, [&] { seen = result; });
  contender.run();
  contender.check();
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(contender.units, 1);
}

TEST(Contenders, WithoutACheckAreRefused) {
  try {
    const Contender contender(
        "adds", [] {}, std::function<void()>());
    FAIL() << "an empty check was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_EQ(error.message(), "'adds' has no check");
  }
}

TEST(Contenders, WithoutWorkAreRefused) {
  int seen = 0;
  EXPECT_THROW(Contender("adds", {}, [&] { ++seen; }), Error);
}

}  // namespace
}  // namespace selvage::timing
