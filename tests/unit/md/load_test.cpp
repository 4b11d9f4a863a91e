#include "md/ghosts/load.hpp"

#include "expect_error.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace selvage::md {
namespace {

using app::testing_support::error_message;

TEST(Load, ImbalanceIsTheLargestOverTheMean) {
  EXPECT_EQ(imbalance(std::vector<double>{5, 5, 5}), 1);
  EXPECT_EQ(imbalance(std::vector<double>{0, 0, 12, 4}), 3);
  EXPECT_EQ(imbalance(std::vector<double>{0, 0}), 1);
  EXPECT_EQ(describe_load(std::vector<double>{2, 6}), "2 to 6 atoms per rank, imbalance 1.500");
}

TEST(Load, LostAndDoubledAtomsAreNamedWithTheirStep) {
  EXPECT_NO_THROW(check_none_lost(7, 8, std::vector<double>{2, 6}));
  const auto message = [](std::int64_t expected) {
    return error_message(ErrorKind::numeric, [&] {
      check_none_lost(7, expected, std::vector<double>{2, 6});
    });
  };
  EXPECT_EQ(message(11),
            "at step 7 there are 8 atoms on all ranks together, 3 fewer than the 11 of the start");
  EXPECT_EQ(message(6), "at step 7 there are 8 atoms on all ranks together, 2 more than the 6 of the start");
}

}  // namespace
}  // namespace selvage::md
