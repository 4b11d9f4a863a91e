#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace selvage::sgd {

/// Real numbers as multiples of 2^-32 in 64 bits: their sum is the same in any order, so it doesn't depend on how samples
/// are spread over ranks. Twice the bytes of fp32; what is finer than 2.3e-10 is rounded away.
namespace fixed_point {

inline constexpr double unit = 0x1p-32;
/// Of one summand: 2^15 of them can be added up.
inline constexpr double largest = 0x1p+15;

/// False for NaN and infinity too.
KOKKOS_INLINE_FUNCTION bool fits(double value) {
  return value >= -largest && value <= largest;
}

/// Rounds to nearest. \param value  one that fits
KOKKOS_INLINE_FUNCTION std::int64_t from_real(double value) {
  const double scaled = value / unit;
  return static_cast<std::int64_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

KOKKOS_INLINE_FUNCTION double to_real(std::int64_t value) {
  return static_cast<double>(value) * unit;
}

}  // namespace fixed_point

}  // namespace selvage::sgd
