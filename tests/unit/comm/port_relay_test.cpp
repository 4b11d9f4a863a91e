#include "halo/port_relay.hpp"

#include <gtest/gtest.h>

#include <array>

namespace selvage::detail {
namespace {

TEST(PortRelay, SendsTheViewOfTheNextStep) {
  std::array<std::uint64_t, 2> signals{6, 5};
  const auto signal_of = [&](std::size_t view) { return signals.at(view); };
  EXPECT_EQ(view_put_in(7, 2, signal_of), 2U);
  signals = {8, 7};
  EXPECT_EQ(view_put_in(7, 2, signal_of), 1U);
  EXPECT_EQ(view_put_in(8, 2, signal_of), 0U);
}

// Step 7 puts View 0 and step 8 View 1, both after the proxy has looked at View 0 and before it looks at View 1.
TEST(PortRelay, NeverTakesTheStepAfterForTheNext) {
  std::array<std::uint64_t, 2> signals{5, 6};
  const auto signal_of = [&](std::size_t view) {
    const std::uint64_t seen = signals.at(view);
    signals = {7, 8};
    return seen;
  };
  EXPECT_EQ(view_put_in(7, 2, signal_of), 2U);
  EXPECT_EQ(view_put_in(7, 2, signal_of), 0U);
}

}  // namespace
}  // namespace selvage::detail
