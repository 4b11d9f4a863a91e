#pragma once

#include <Kokkos_BitManipulation.hpp>

#include <cstdint>

namespace selvage {

/// IEEE binary16, and bfloat16, as they lie in memory: on every backend, where Kokkos' own are 16 bits wide on
/// GPUs only. to_float() and from_float() convert them, on hosts and in kernels.
struct Half {
  std::uint16_t bits = 0;
};
/// The upper 16 bits of a float: its sign, its 8 bits of exponent, and 7 bits of its fraction. Otherwise as Half.
struct Bfloat16 {
  std::uint16_t bits = 0;
};

/// The same value in fp32, which holds all of them: subnormal numbers, infinities and the sign of zero too. A NaN stays one,
/// with its sign.
[[nodiscard]] KOKKOS_INLINE_FUNCTION float to_float(Bfloat16 value) {
  return Kokkos::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}
[[nodiscard]] KOKKOS_INLINE_FUNCTION float to_float(Half value) {
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000U) << 16;
  const std::uint32_t exponent = value.bits >> 10 & 0x1fU;
  const std::uint32_t fraction = value.bits & 0x3ffU;
  // Subnormal: a multiple of 2^-24, exact in fp32.
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t biased = exponent == 0x1fU ? 0xffU : exponent + 127 - 15;
  return Kokkos::bit_cast<float>(sign | biased << 23 | fraction << 13);
}

/// The nearest value of T, Half or Bfloat16; of two that are equally near the one whose last bit is 0. What is too small
/// for a normal number becomes the nearest subnormal one, or 0 of its sign. From half a unit of the last place above
/// the largest finite value on (65520 for Half) it is infinity. A NaN becomes a quiet one of its sign.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION T from_float(float value);

template <>
[[nodiscard]] KOKKOS_INLINE_FUNCTION Bfloat16 from_float<Bfloat16>(float value) {
  const auto bits = Kokkos::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return {static_cast<std::uint16_t>(bits >> 16 | 0x40U)};
  return {static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16)};
}
template <>
[[nodiscard]] KOKKOS_INLINE_FUNCTION Half from_float<Half>(float value) {
  const auto bits = Kokkos::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  constexpr std::uint32_t infinity = 0x7f800000U;
  constexpr std::uint32_t smallest_normal = 0x38800000U;  // 2^-14
  constexpr std::uint32_t overflow = 0x477ff000U;         // 65520, half way from the largest to 2^16
  if (magnitude > infinity) return {static_cast<std::uint16_t>(sign | 0x7e00U)};
  if (magnitude >= overflow) return {static_cast<std::uint16_t>(sign | 0x7c00U)};
  if (magnitude < smallest_normal) {
    // Adding 0.5 leaves a multiple of 2^-24 in the low bits, rounded by the addition.
    const float shifted = Kokkos::bit_cast<float>(magnitude) + 0.5F;
    return {static_cast<std::uint16_t>(sign | (Kokkos::bit_cast<std::uint32_t>(shifted) - 0x3f000000U))};
  }
  const std::uint32_t rebiased = magnitude - ((127U - 15U) << 23);
  return {static_cast<std::uint16_t>(sign | (rebiased + 0xfffU + (rebiased >> 13 & 1U)) >> 13)};
}

}  // namespace selvage
