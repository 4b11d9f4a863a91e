#include <selvage/environment.hpp>
#include <selvage/error.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>

namespace selvage::test {
namespace {

constexpr const char* variable = "SELVAGE_TEST_VARIABLE";

class Environment : public testing::Test {
 protected:
  void SetUp() override { unsetenv(variable); }
  void TearDown() override { unsetenv(variable); }

  static void set(const char* value) { setenv(variable, value, 1); }

  static std::string refusal(const char* value) {
    set(value);
    try {
      static_cast<void>(environment_integer(variable, 7, 1, 100));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      return error.message();
    }
    return "none";
  }
};

TEST_F(Environment, TakesUnsetAndEmptyForTheSame) {
  EXPECT_FALSE(environment_text(variable));
  EXPECT_EQ(environment_integer(variable, 7, 1, 100), 7);
  set("");
  EXPECT_FALSE(environment_text(variable));
  EXPECT_EQ(environment_integer(variable, 7, 1, 100), 7);
}

TEST_F(Environment, ReadsTextAndIntegersUpToTheLimits) {
  set("1");
  EXPECT_EQ(environment_text(variable), "1");
  EXPECT_EQ(environment_integer(variable, 7, 1, 100), 1);
  set("100");
  EXPECT_EQ(environment_integer(variable, 7, 1, 100), 100);
  set("-9223372036854775808");
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(environment_integer(variable, 7, least, 100), least);
}

TEST_F(Environment, NamesVariableValueAndRangeOfABadInteger) {
  for (const char* value : {"0", "101", "ten", "5ms", " 5", "5 ", "1e2", "0x10", "99999999999999999999"}) {
    EXPECT_EQ(refusal(value),
              "SELVAGE_TEST_VARIABLE=" + std::string(value) + " is not a whole number from 1 to 100");
  }
}

TEST_F(Environment, DoesNotCheckTheFallbackAgainstTheRange) {
  EXPECT_EQ(environment_integer(variable, -1, 1, 100), -1);
}

}  // namespace
}  // namespace selvage::test
