#include <selvage/comm/element_types.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace selvage {
namespace {

bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

TEST(ElementTypes, KeepEveryHalfThroughFp32) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Half half{static_cast<std::uint16_t>(bits)};
    const float value = detail::widen(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(detail::widen(detail::narrow<Half>(value)))) << bits;
    } else {
      ASSERT_EQ(detail::narrow<Half>(value).bits, bits);
    }
  }
  EXPECT_EQ(detail::widen(Half{0x3c00}), 1.0F);
  EXPECT_EQ(detail::widen(Half{0xc000}), -2.0F);
  EXPECT_EQ(detail::widen(Half{0x0001}), 0x1p-24F);
  EXPECT_EQ(detail::widen(Half{0x7bff}), 65504.0F);
  EXPECT_EQ(detail::widen(Half{0xfc00}), -std::numeric_limits<float>::infinity());
}

TEST(ElementTypes, KeepEveryBfloat16ThroughFp32) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = detail::widen(Bfloat16{static_cast<std::uint16_t>(bits)});
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(detail::widen(detail::narrow<Bfloat16>(value)))) << bits;
    } else {
      ASSERT_EQ(detail::narrow<Bfloat16>(value).bits, bits);
    }
  }
}

/// Between two neighbours the nearer one, half way the even one.
template <class T>
void expect_rounding_between(std::uint16_t low) {
  const auto high = static_cast<std::uint16_t>(low + 1);
  const double below = detail::widen(T{low});
  const double above = detail::widen(T{high});
  const double middle = (below + above) / 2;
  const auto near = [&](double value) { return detail::narrow<T>(static_cast<float>(value)).bits; };
  EXPECT_EQ(near(middle), low % 2 == 0 ? low : high) << low;
  EXPECT_EQ(near(middle + (above - middle) / 4), high) << low;
  EXPECT_EQ(near(middle - (above - middle) / 4), low) << low;
}
TEST(ElementTypes, RoundToNearestEven) {
  for (std::uint16_t low = 0; low < 0x7bff; ++low) expect_rounding_between<Half>(low);
  // Those whose middles fp32 holds: subnormal ones don't need to be.
  for (std::uint16_t low = 0x0080; low < 0x7f7f; ++low) expect_rounding_between<Bfloat16>(low);
}

TEST(ElementTypes, OverflowToInfinity) {
  EXPECT_EQ(detail::narrow<Half>(65519.996F).bits, 0x7bff);
  EXPECT_EQ(detail::narrow<Half>(65520.0F).bits, 0x7c00);
  EXPECT_EQ(detail::narrow<Half>(-1e9F).bits, 0xfc00);
  EXPECT_EQ(detail::narrow<Bfloat16>(std::numeric_limits<float>::max()).bits, 0x7f80);
}

#ifdef __FLT16_MANT_DIG__
/// The compiler's own type as an oracle.
TEST(ElementTypes, RoundAsTheCompilerDoes) {
  std::mt19937 random(7);
  for (int i = 0; i < 2'000'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isnan(value)) continue;
    const Half half = detail::narrow<Half>(value);
    ASSERT_EQ(half.bits, std::bit_cast<std::uint16_t>(static_cast<_Float16>(value))) << value;
    ASSERT_TRUE(same_bits(detail::widen(half), static_cast<float>(std::bit_cast<_Float16>(half.bits))));
  }
}
#endif

}  // namespace
}  // namespace selvage
