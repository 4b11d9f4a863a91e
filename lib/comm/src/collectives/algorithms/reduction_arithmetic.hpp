#pragma once

#include <selvage/comm/allreduce_options.hpp>
#include <selvage/comm/elements.hpp>
#include <selvage/comm/half.hpp>

#include <Kokkos_Macros.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace selvage::detail {

template <class T>
inline constexpr bool is_half = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>;
template <class T>
inline constexpr bool is_short_integer = std::is_integral_v<T> && sizeof(T) < sizeof(std::int32_t);

/// In what elements are combined: 16-bit floating-point types in fp32, short integers in 32 bits.
template <class T>
using Accumulator =
    std::conditional_t<is_half<T>, float, std::conditional_t<is_short_integer<T>, std::int32_t, T>>;

template <class T>
KOKKOS_INLINE_FUNCTION Accumulator<T> to_accumulator(T value) {
  if constexpr (is_half<T>) {
    return to_float(value);
  } else {
    return value;
  }
}
template <class T>
KOKKOS_INLINE_FUNCTION T from_accumulator(Accumulator<T> value) {
  if constexpr (is_half<T>) {
    return from_float<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

/// `lower` is of the lower ranks, where algorithms combine in rank order. Integers wrap.
template <ReduceOperation operation, class A>
KOKKOS_INLINE_FUNCTION A combine(A lower, A higher) {
  if constexpr (operation == ReduceOperation::min) {
    return higher < lower ? higher : lower;
  } else if constexpr (operation == ReduceOperation::max) {
    return lower < higher ? higher : lower;
  } else if constexpr (std::is_integral_v<A>) {
    using Wrapping = std::make_unsigned_t<A>;
    const auto a = static_cast<Wrapping>(lower);
    const auto b = static_cast<Wrapping>(higher);
    return static_cast<A>(operation == ReduceOperation::product ? a * b : a + b);
  } else {
    return operation == ReduceOperation::product ? lower * higher : lower + higher;
  }
}

/// What all ranks have combined, as the result: an average is divided once, at the end; integers towards zero.
template <ReduceOperation operation, class A>
KOKKOS_INLINE_FUNCTION A conclude(A combined, int ranks) {
  if constexpr (operation == ReduceOperation::average) {
    return combined / static_cast<A>(ranks);
  } else {
    return combined;
  }
}

/// Calls `visit.operator()<T, operation>()` for what is known at run time only.
template <class Visit>
decltype(auto) with_operation(ReduceOperation operation, const Visit& visit) {
  switch (operation) {
    case ReduceOperation::average:
      return visit.template operator()<ReduceOperation::average>();
    case ReduceOperation::min:
      return visit.template operator()<ReduceOperation::min>();
    case ReduceOperation::max:
      return visit.template operator()<ReduceOperation::max>();
    case ReduceOperation::product:
      return visit.template operator()<ReduceOperation::product>();
    default:
      return visit.template operator()<ReduceOperation::sum>();
  }
}
template <class Visit>
decltype(auto) with_arithmetic(ElementType type, ReduceOperation operation, const Visit& visit) {
  const auto with = [&]<class T>(std::type_identity<T>) {
    return with_operation(operation,
                          [&]<ReduceOperation known>() { return visit.template operator()<T, known>(); });
  };
  switch (type) {
    case ElementType::fp64:
      return with(std::type_identity<double>());
    case ElementType::fp16:
      return with(std::type_identity<Half>());
    case ElementType::bf16:
      return with(std::type_identity<Bfloat16>());
    case ElementType::int32:
      return with(std::type_identity<std::int32_t>());
    case ElementType::int64:
      return with(std::type_identity<std::int64_t>());
    case ElementType::uint32:
      return with(std::type_identity<std::uint32_t>());
    case ElementType::uint64:
      return with(std::type_identity<std::uint64_t>());
    case ElementType::int16:
      return with(std::type_identity<std::int16_t>());
    case ElementType::uint16:
      return with(std::type_identity<std::uint16_t>());
    case ElementType::int8:
      return with(std::type_identity<std::int8_t>());
    case ElementType::uint8:
      return with(std::type_identity<std::uint8_t>());
    default:
      return with(std::type_identity<float>());
  }
}

}  // namespace selvage::detail
