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

TEST_F(Environment, ListsTheWordsForABadOne) {
  EXPECT_FALSE(environment_word(variable, {"thread", "caller"}));
  set("caller");
  EXPECT_EQ(environment_word(variable, {"thread", "caller"}), "caller");
  set("Caller");
  try {
    static_cast<void>(environment_word(variable, {"thread", "caller"}));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(error.message(), "SELVAGE_TEST_VARIABLE=Caller: there are thread, caller");
  }
}

TEST_F(Environment, ReadsSwitches) {
  EXPECT_FALSE(environment_switch(variable));
  set("yes");
  EXPECT_EQ(environment_switch(variable), true);
  set("no");
  EXPECT_EQ(environment_switch(variable), false);
  set("1");
  EXPECT_THROW(static_cast<void>(environment_switch(variable)), Error);
}

TEST_F(Environment, NamesTheKnownVariableMostLikeAnUnknownOne) {
  EXPECT_TRUE(remarks_on_unknown_variables().empty());
  setenv("SELVAGE_TRANPORT", "peer", 1);
  auto remarks = remarks_on_unknown_variables();
  unsetenv("SELVAGE_TRANPORT");
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_EQ(remarks[0], "SELVAGE_TRANPORT is set, and nothing reads it: did you mean SELVAGE_TRANSPORT?");
  set("x");
  remarks = remarks_on_unknown_variables();
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_EQ(remarks[0], "SELVAGE_TEST_VARIABLE is set, and nothing reads it");
}

}  // namespace
}  // namespace selvage::test
