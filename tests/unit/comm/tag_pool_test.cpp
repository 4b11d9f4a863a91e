#include "runtime/tag_pool.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace selvage::detail {
namespace {

using Ranges = std::vector<std::pair<int, int>>;

TEST(TagPool, GivesNewOnesAsLongAsThereAre) {
  TagPool pool(10);
  EXPECT_EQ(pool.take(4), 0);
  pool.give_back(0);
  EXPECT_EQ(pool.take(4), 4);
  EXPECT_EQ(pool.take(2), 8);
  EXPECT_EQ(pool.take(1), std::nullopt);
  EXPECT_EQ(pool.taken(), (Ranges{{0, 4}, {4, 4}, {8, 2}}));
}

TEST(TagPool, KeepsWhatOneRankHasGivenBackUntilAllHave) {
  TagPool pool(10);
  for (int i = 0; i < 5; ++i) ASSERT_EQ(pool.take(2), 2 * i);
  for (const int first : {0, 2, 6}) pool.give_back(first);
  EXPECT_EQ(pool.given_back(), (std::vector{1, 1, 0, 1, 0}));
  EXPECT_EQ(pool.take(2), std::nullopt);
  pool.free({true, false, false, true, false});
  EXPECT_EQ(pool.taken(), (Ranges{{2, 2}, {4, 2}, {8, 2}}));
  EXPECT_EQ(pool.given_back(), (std::vector{1, 0, 0}));
  EXPECT_EQ(pool.take(3), std::nullopt) << "no three lie in a row";
  EXPECT_EQ(pool.take(1), 0);
  EXPECT_EQ(pool.take(2), 6);
  EXPECT_EQ(pool.take(1), 1);
  EXPECT_EQ(pool.take(1), std::nullopt);
}

TEST(TagPool, JoinsFreeOnesThatTouch) {
  for (const std::vector<int>& order : {std::vector{0, 3, 6}, std::vector{6, 3, 0}, std::vector{0, 6, 3}}) {
    TagPool pool(9);
    for (int i = 0; i < 3; ++i) ASSERT_EQ(pool.take(3), 3 * i);
    for (const int first : order) {
      pool.give_back(first);
      const auto flags = pool.given_back();
      pool.free(std::vector<bool>(flags.begin(), flags.end()));
    }
    EXPECT_EQ(pool.take(9), 0);
  }
}

}  // namespace
}  // namespace selvage::detail
