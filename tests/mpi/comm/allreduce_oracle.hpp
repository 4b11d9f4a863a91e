#pragma once

#include <selvage/comm/allreduce.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace selvage::test {

/// 16-bit words as numbers, by other means than the library's: their bits spelled out.
template <int fraction_bits>
double value_of_bits(std::uint16_t bits) {
  const int exponent_bits = 15 - fraction_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1)
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  const double magnitude = exponent == 0
                               ? std::ldexp(fraction, 1 - bias - fraction_bits)
                               : std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
  return sign * magnitude;
}

/// All finite values that aren't negative, by their bits, and in infinity's place what would come next.
template <int fraction_bits>
const std::vector<double>& magnitudes() {
  static const std::vector<double> all = [] {
    const int infinity = ((1 << (15 - fraction_bits)) - 1) << fraction_bits;
    std::vector<double> values;
    for (int bits = 0; bits < infinity; ++bits)
      values.push_back(value_of_bits<fraction_bits>(static_cast<std::uint16_t>(bits)));
    values.push_back(2 * std::ldexp(1.0, std::ilogb(values.back())));
    return values;
  }();
  return all;
}

/// The first of magnitudes() that isn't less. Starts from a guess that is at most a few off, since tests ask millions of times.
template <int fraction_bits>
int first_not_less(double magnitude) {
  if (!(magnitude > 0)) return 0;
  const std::vector<double>& all = magnitudes<fraction_bits>();
  const int bias = (1 << (14 - fraction_bits)) - 1;
  int exponent = 0;
  const double fraction = 2 * std::frexp(magnitude, &exponent) - 1;
  const double guess = std::ldexp(exponent - 1 + bias + fraction, fraction_bits);
  auto bits = static_cast<std::size_t>(std::clamp(guess, 0.0, static_cast<double>(all.size() - 1)));
  while (all[bits] < magnitude) ++bits;
  while (bits > 0 && all[bits - 1] >= magnitude) --bits;
  return static_cast<int>(bits);
}

/// The nearest word, the even one of two.
template <int fraction_bits>
std::uint16_t nearest_bits(double value) {
  const std::vector<double>& all = magnitudes<fraction_bits>();
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::min(std::fabs(value), all.back());
  int bits = first_not_less<fraction_bits>(magnitude);
  if (bits > 0) {
    const double up = all[bits] - magnitude;
    const double down = magnitude - all[bits - 1];
    if (down < up || (down == up && bits % 2 == 1)) --bits;
  }
  return static_cast<std::uint16_t>(sign | bits);
}

template <class T>
inline constexpr bool is_half = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>;
template <class T>
inline constexpr int fraction_bits_of = std::is_same_v<T, Half> ? 10 : 7;

/// Half the distance between neighbours at some magnitude: the most that rounding to a 16-bit type does.
template <class T>
long double roundoff_of(long double magnitude) {
  constexpr int fraction_bits = fraction_bits_of<T>;
  constexpr int least_exponent = 2 - (1 << (14 - fraction_bits));
  const int exponent = std::max(magnitude > 0 ? std::ilogb(magnitude) : least_exponent, least_exponent);
  return std::ldexp(0.5L, exponent - fraction_bits);
}
/// From half way to what would come next on, rounding gives infinity.
template <class T>
bool may_overflow(long double magnitude) {
  const std::vector<double>& all = magnitudes<fraction_bits_of<T>>();
  return magnitude >= (all.back() + all[all.size() - 2]) / 2;
}

/// value_of_bits() of every word, which tests ask for millions of times.
template <int fraction_bits>
const std::vector<float>& values_of_all_bits() {
  static const std::vector<float> all = [] {
    std::vector<float> values;
    for (int bits = 0; bits < 1 << 16; ++bits)
      values.push_back(static_cast<float>(value_of_bits<fraction_bits>(static_cast<std::uint16_t>(bits))));
    return values;
  }();
  return all;
}

template <class T>
auto widened(T value) {
  if constexpr (is_half<T>) {
    return values_of_all_bits<fraction_bits_of<T>>()[value.bits];
  } else if constexpr (std::is_integral_v<T> && sizeof(T) < 4) {
    return static_cast<std::int32_t>(value);
  } else {
    return value;
  }
}
template <class T, class A>
T rounded(A value) {
  if constexpr (is_half<T>) {
    return T{nearest_bits<fraction_bits_of<T>>(value)};
  } else {
    return static_cast<T>(value);
  }
}

/// What is left of a number that travels as bf16, by the table of all such numbers.
inline float rounded_to_bf16(float value) {
  return widened(rounded<Bfloat16>(value));
}

/// What a rank holds before a reduction: sums and products of these depend on their order.
template <class T>
T value_at(int rank, std::int64_t index, int round) {
  std::uint64_t mixed = static_cast<std::uint64_t>(index) * 0x9e3779b97f4a7c15U +
                        static_cast<std::uint64_t>(rank + 1) * 0xbf58476d1ce4e5b9U +
                        static_cast<std::uint64_t>(round + 1) * 0x94d049bb133111ebU;
  mixed ^= mixed >> 29;
  mixed *= 0xbf58476d1ce4e5b9U;
  mixed ^= mixed >> 32;
  const double share = static_cast<double>(mixed % 2'000'003) / 2'000'003;  // 0 to 1
  const double magnitude = std::ldexp(0.5 + share, static_cast<int>(mixed >> 40 & 3) - 1);
  const double value = (mixed >> 60 & 1) != 0 ? -magnitude : magnitude;
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(mixed);
  } else {
    return rounded<T>(static_cast<std::conditional_t<sizeof(T) == 8, double, float>>(value));
  }
}

template <class A>
A combined(ReduceOperation operation, A a, A b) {
  switch (operation) {
    case ReduceOperation::min:
      return b < a ? b : a;
    case ReduceOperation::max:
      return a < b ? b : a;
    default:
      break;
  }
  const bool multiplies = operation == ReduceOperation::product;
  if constexpr (std::is_integral_v<A>) {
    // Modulo 2^64, of which modulo 2^32 is a part.
    const auto wide_a = static_cast<std::uint64_t>(a);
    const auto wide_b = static_cast<std::uint64_t>(b);
    return static_cast<A>(multiplies ? wide_a * wide_b : wide_a + wide_b);
  } else {
    return multiplies ? a * b : a + b;
  }
}

/// The result of one element, in rank order and to the bit.
template <class T>
T expected_at(ReduceOperation operation, int ranks, std::int64_t index, int round) {
  auto value = widened(value_at<T>(0, index, round));
  for (int rank = 1; rank < ranks; ++rank)
    value = combined(operation, value, widened(value_at<T>(rank, index, round)));
  if (operation == ReduceOperation::average) value = value / static_cast<decltype(value)>(ranks);
  return rounded<T>(value);
}

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// Whether a result depends on the order in which elements are combined, or on how that is bracketed.
template <class T>
bool depends_on_order(ReduceOperation operation) {
  return !std::is_integral_v<T> && operation != ReduceOperation::min && operation != ReduceOperation::max;
}

/// Where a result lies in whatever order: as far from the exact one as rounding each step, and the result once, can take
/// it.
struct Neighbourhood {
  long double exact;
  double bound;
};
template <class T>
Neighbourhood neighbourhood_at(ReduceOperation operation, int ranks, std::int64_t index, int round) {
  const bool is_product = operation == ReduceOperation::product;
  long double exact = is_product ? 1 : 0;
  long double magnitude = exact;  // that steps round
  for (int rank = 0; rank < ranks; ++rank) {
    const auto value = static_cast<long double>(widened(value_at<T>(rank, index, round)));
    exact = is_product ? exact * value : exact + value;
    magnitude = is_product ? magnitude * std::fabs(value) : magnitude + std::fabs(value);
  }
  if (operation == ReduceOperation::average) {
    exact /= ranks;
    magnitude /= ranks;
  }
  using Combined = decltype(widened(T()));
  long double bound = magnitude * ranks * std::numeric_limits<Combined>::epsilon();
  if constexpr (is_half<T>) bound += roundoff_of<T>(std::fabs(exact) + bound);
  return {exact, static_cast<double>(bound)};
}
template <class T>
bool is_in(const Neighbourhood& neighbourhood, T result) {
  const auto found = static_cast<long double>(widened(result));
  if constexpr (is_half<T>) {
    if (std::isinf(found))
      return std::signbit(found) == std::signbit(neighbourhood.exact) &&
             may_overflow<T>(std::fabs(neighbourhood.exact) + neighbourhood.bound);
  }
  return std::fabs(found - neighbourhood.exact) <= neighbourhood.bound;
}

}  // namespace selvage::test
