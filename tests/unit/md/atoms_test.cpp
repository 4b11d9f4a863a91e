#include "md/physics/atoms.hpp"

#include "expect_error.hpp"

#include <gtest/gtest.h>

namespace selvage::md {
namespace {

TEST(Atoms, ARankCountsThemAndItsGhostsIn31Bits) {
  EXPECT_NO_THROW(require_countable(2'000'000'000, 147'483'647));
  EXPECT_EQ(app::testing_support::error_message(ErrorKind::unsupported,
                                                [] { require_countable(2'000'000'000, 147'483'648); }),
            "2000000000 atoms and 147483648 ghosts are more than one rank can count: use more ranks");
  EXPECT_NE(app::testing_support::error_message(ErrorKind::unsupported,
                                                [] { require_countable(0, std::int64_t{1} << 33); }),
            "");
}

}  // namespace
}  // namespace selvage::md
