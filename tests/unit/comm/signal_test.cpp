#include <selvage/comm/detail/signal.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <thread>

namespace selvage::detail {
namespace {

TEST(Flag, HasReachedWhatItHoldsAndAllBefore) {
  EXPECT_TRUE(has_reached(5, 5));
  EXPECT_TRUE(has_reached(6, 5));
  EXPECT_FALSE(has_reached(4, 5));
  EXPECT_FALSE(has_reached(0, 1));
}

TEST(Flag, ComparesRightAcrossTheWrapOfTheEpoch) {
  constexpr std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  EXPECT_TRUE(has_reached(0, last));
  EXPECT_TRUE(has_reached(7, last - 7));
  EXPECT_FALSE(has_reached(last, 0));
  EXPECT_FALSE(has_reached(last - 7, 7));
  std::uint64_t seen = last - 3;
  for (std::uint64_t wanted = seen; wanted != 4; ++wanted, ++seen) {
    EXPECT_TRUE(has_reached(seen, wanted));
    EXPECT_FALSE(has_reached(seen, wanted + 1));
  }
}

TEST(Flag, LiesOnALineOfItsOwn) {
  EXPECT_GE(sizeof(Flag), 128U);
  EXPECT_EQ(alignof(Flag), 128U);
}

TEST(Flag, PublishesWhatWasWrittenBeforeIt) {
  constexpr std::uint64_t rounds = 20'000;
  Flag there;
  Flag back;
  std::uint64_t payload = 0;
  std::uint64_t wrong = 0;
  std::thread reader([&] {
    for (std::uint64_t round = 1; round <= rounds; ++round) {
      while (!has_reached(acquire_epoch(there), round)) std::this_thread::yield();
      if (payload != round * 3) ++wrong;
      release_epoch(back, round);
    }
  });
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    payload = round * 3;
    release_epoch(there, round);
    while (!has_reached(acquire_epoch(back), round)) std::this_thread::yield();
  }
  reader.join();
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace selvage::detail
