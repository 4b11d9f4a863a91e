#include <selvage/counted.hpp>

#include <gtest/gtest.h>

namespace selvage::test {
namespace {

TEST(Counted, IsSingularForOneAlone) {
  EXPECT_EQ(counted(1, "rank"), "1 rank");
  EXPECT_EQ(counted(0, "rank"), "0 ranks");
  EXPECT_EQ(counted(2, "rank"), "2 ranks");
  EXPECT_EQ(counted(-1, "step"), "-1 steps");
}

TEST(Counted, TakesAPluralThatHasNoS) {
  EXPECT_EQ(counted(1, "process", "processes"), "1 process");
  EXPECT_EQ(counted(3, "process", "processes"), "3 processes");
}

}  // namespace
}  // namespace selvage::test
