#include <selvage/comm/half.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>

namespace selvage {
namespace {

bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

TEST(HalfTypes, HoldWellKnownValues) {
  EXPECT_EQ(to_float(Half{0x3c00}), 1.0F);
  EXPECT_EQ(to_float(Half{0xc000}), -2.0F);
  EXPECT_EQ(to_float(Half{0x0001}), 0x1p-24F);
  EXPECT_EQ(to_float(Half{0x7bff}), 65504.0F);
  EXPECT_EQ(to_float(Half{0xfc00}), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(to_float(Bfloat16{0x3f80}), 1.0F);
  EXPECT_EQ(to_float(Bfloat16{0xc040}), -3.0F);
  EXPECT_EQ(to_float(Bfloat16{0x0001}), 0x1p-133F);
}

TEST(HalfTypes, OverflowToInfinity) {
  EXPECT_EQ(from_float<Half>(65519.996F).bits, 0x7bff);
  EXPECT_EQ(from_float<Half>(65520.0F).bits, 0x7c00);
  EXPECT_EQ(from_float<Half>(-1e9F).bits, 0xfc00);
  EXPECT_EQ(from_float<Bfloat16>(std::numeric_limits<float>::max()).bits, 0x7f80);
}

/// What the formats are by their definition, computed in fp64 without a look at the conversions.
struct Format {
  int fraction_bits;
  int exponent_bits;
};
template <class T>
constexpr Format format_of = std::is_same_v<T, Half> ? Format{10, 5} : Format{7, 8};

double by_definition(const Format& format, std::uint32_t bits) {
  const std::uint32_t fraction = bits & ((1U << format.fraction_bits) - 1);
  const auto exponent = static_cast<int>(bits >> format.fraction_bits & ((1U << format.exponent_bits) - 1));
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  const int highest = (1 << format.exponent_bits) - 1;
  if (exponent == highest) {
    return sign * (fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                                 : std::numeric_limits<double>::infinity());
  }
  const int lowest_power = 2 - (1 << (format.exponent_bits - 1)) - format.fraction_bits;
  const std::uint32_t leading = exponent == 0 ? 0U : 1U << format.fraction_bits;
  return sign * std::ldexp(leading + fraction, lowest_power + std::max(exponent, 1) - 1);
}

template <class T>
void expect_definition_of_all() {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const double expected = by_definition(format_of<T>, bits);
    const float value = to_float(T{static_cast<std::uint16_t>(bits)});
    ASSERT_EQ(std::signbit(value), (bits & 0x8000U) != 0) << bits;
    ASSERT_TRUE(std::isnan(expected) ? std::isnan(value) : value == expected) << bits;
    // And back, NaN to a quiet NaN of its sign.
    const std::uint16_t again = from_float<T>(value).bits;
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(by_definition(format_of<T>, again))) << bits;
    } else {
      ASSERT_EQ(again, bits);
    }
    ASSERT_EQ(again & 0x8000U, bits & 0x8000U);
  }
}
TEST(HalfTypes, AreWhatTheirDefinitionSaysInAllBits) {
  expect_definition_of_all<Half>();
  expect_definition_of_all<Bfloat16>();
}

/// The nearest by comparing distances in fp64; the number behind the largest stands for infinity.
template <class T>
std::uint16_t nearest(float value) {
  const Format format = format_of<T>;
  const std::uint32_t infinity = ((1U << format.exponent_bits) - 1) << format.fraction_bits;
  const double wanted = std::abs(static_cast<double>(value));
  const auto magnitude = [&](std::uint32_t bits) {
    return bits < infinity ? by_definition(format, bits)
                           : 2 * by_definition(format, bits - (1U << format.fraction_bits));
  };
  std::uint32_t low = 0;
  for (std::uint32_t step = 0x4000; step > 0; step /= 2) {
    if (low + step <= infinity && magnitude(low + step) <= wanted) low += step;
  }
  const double below = wanted - magnitude(low);
  const double above = magnitude(low + 1) - wanted;
  const bool rounds_up = low < infinity && (above < below || (above == below && low % 2 == 1));
  const std::uint32_t sign = std::signbit(value) ? 0x8000U : 0U;
  return static_cast<std::uint16_t>(sign | (low + (rounds_up ? 1 : 0)));
}

template <class T>
void expect_nearest_around_all() {
  const Format format = format_of<T>;
  const std::uint32_t infinity = ((1U << format.exponent_bits) - 1) << format.fraction_bits;
  for (std::uint32_t bits = 0; bits < infinity; ++bits) {
    const double value = by_definition(format, bits);
    const double next = bits + 1 < infinity
                            ? by_definition(format, bits + 1)
                            : 2 * by_definition(format, bits + 1 - (1U << format.fraction_bits));
    const auto middle = static_cast<float>((value + next) / 2);
    for (const float each : {static_cast<float>(value), std::nextafter(middle, 0.0F), middle,
                             std::nextafter(middle, std::numeric_limits<float>::infinity())}) {
      ASSERT_EQ(from_float<T>(each).bits, nearest<T>(each)) << each;
      ASSERT_EQ(from_float<T>(-each).bits, nearest<T>(-each)) << -each;
    }
  }
}
TEST(HalfTypes, RoundToTheNearestAroundEveryValue) {
  expect_nearest_around_all<Half>();
  expect_nearest_around_all<Bfloat16>();
}

#ifdef __FLT16_MANT_DIG__
/// The compiler's own type as an oracle.
TEST(HalfTypes, RoundAsTheCompilerDoes) {
  std::mt19937 random(7);
  for (int i = 0; i < 2'000'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isnan(value)) continue;
    const Half half = from_float<Half>(value);
    ASSERT_EQ(half.bits, std::bit_cast<std::uint16_t>(static_cast<_Float16>(value))) << value;
    ASSERT_TRUE(same_bits(to_float(half), static_cast<float>(std::bit_cast<_Float16>(half.bits))));
  }
}
#endif

}  // namespace
}  // namespace selvage
