#include <selvage/whole_number.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace selvage::test {
namespace {

TEST(WholeNumber, IsDecimal) {
  EXPECT_EQ(whole_number("0"), 0);
  EXPECT_EQ(whole_number("-17"), -17);
  EXPECT_EQ(whole_number("010"), 10);
  EXPECT_EQ(whole_number("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(whole_number("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
}

TEST(WholeNumber, IsNothingElse) {
  for (const char* text : {"", " ", " 5", "5 ", "+5", "0x10", "5x", "1.5", "1e3", "1e400", "nan", "inf", "-",
                           "--5", "9223372036854775808", "18446744073709551616", "-9223372036854775809"})
    EXPECT_FALSE(whole_number(text)) << "'" << text << "'";
}

}  // namespace
}  // namespace selvage::test
