#pragma once

#include <selvage/comm/detail/describe_view.hpp>
#include <selvage/comm/elements.hpp>
#include <selvage/comm/half.hpp>

#include <Kokkos_Core.hpp>

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace selvage::detail {

template <class T>
struct ElementTypeOf {
  static constexpr bool is_known = false;
};
template <ElementType known>
struct KnownElementType {
  static constexpr bool is_known = true;
  static constexpr ElementType value = known;
};
template <>
struct ElementTypeOf<double> : KnownElementType<ElementType::fp64> {};
template <>
struct ElementTypeOf<float> : KnownElementType<ElementType::fp32> {};
template <>
struct ElementTypeOf<Half> : KnownElementType<ElementType::fp16> {};
template <>
struct ElementTypeOf<Bfloat16> : KnownElementType<ElementType::bf16> {};
template <>
struct ElementTypeOf<std::int32_t> : KnownElementType<ElementType::int32> {};
template <>
struct ElementTypeOf<std::int64_t> : KnownElementType<ElementType::int64> {};
template <>
struct ElementTypeOf<std::uint32_t> : KnownElementType<ElementType::uint32> {};
template <>
struct ElementTypeOf<std::uint64_t> : KnownElementType<ElementType::uint64> {};
template <>
struct ElementTypeOf<std::int16_t> : KnownElementType<ElementType::int16> {};
template <>
struct ElementTypeOf<std::uint16_t> : KnownElementType<ElementType::uint16> {};
template <>
struct ElementTypeOf<std::int8_t> : KnownElementType<ElementType::int8> {};
template <>
struct ElementTypeOf<std::uint8_t> : KnownElementType<ElementType::uint8> {};

/// Kokkos' 16-bit types count as ours where they are 16 bits wide; elsewhere they are float.
template <class T>
concept KokkosHalf = std::is_same_v<T, Kokkos::Experimental::half_t> && sizeof(T) == 2;
template <class T>
concept KokkosBhalf = std::is_same_v<T, Kokkos::Experimental::bhalf_t> && sizeof(T) == 2;
template <KokkosHalf T>
struct ElementTypeOf<T> : KnownElementType<ElementType::fp16> {};
template <KokkosBhalf T>
struct ElementTypeOf<T> : KnownElementType<ElementType::bf16> {};

/// What a collective combines of values that are no elements themselves.
template <class T>
struct ElementsOfValue {
  using type = T;
  static constexpr ValueKind kind = ValueKind::number;
};
template <std::floating_point T>
struct ElementsOfValue<Kokkos::complex<T>> {
  using type = T;
  static constexpr ValueKind kind = ValueKind::complex_number;
};
template <std::floating_point T>
struct ElementsOfValue<std::complex<T>> : ElementsOfValue<Kokkos::complex<T>> {};
template <std::size_t bytes>
struct IntegerOf;
template <>
struct IntegerOf<1> : std::type_identity<std::int8_t> {};
template <>
struct IntegerOf<2> : std::type_identity<std::int16_t> {};
template <>
struct IntegerOf<4> : std::type_identity<std::int32_t> {};
template <>
struct IntegerOf<8> : std::type_identity<std::int64_t> {};
/// All integers by their width, long long and char too. Sums of bool would be something else.
template <std::integral T>
requires(!std::is_same_v<T, bool> && sizeof(T) <= 8) struct ElementsOfValue<T> {
  using Signed = typename IntegerOf<sizeof(T)>::type;
  using type = std::conditional_t<std::is_signed_v<T>, Signed, std::make_unsigned_t<Signed>>;
  static constexpr ValueKind kind = ValueKind::number;
};

template <class View>
Elements describe_values(const View& view) {
  using Value = ElementsOfValue<typename View::non_const_value_type>;
  static_assert(Kokkos::is_view_v<View>, "selvage moves and reduces Kokkos::Views");
  static_assert(ElementTypeOf<typename Value::type>::is_known,
                "values can be double, float, complex numbers of these, selvage::Half, selvage::Bfloat16, "
                "Kokkos' half types, and integers of 8 to 64 bits");
  Elements elements{
      .label = view.label(),
      .data = reinterpret_cast<std::byte*>(const_cast<typename View::non_const_value_type*>(view.data())),
      .count = view.span_is_contiguous() ? static_cast<std::int64_t>(view.size()) : -1,
      .type = ElementTypeOf<typename Value::type>::value,
      .memory = memory_kind<View>(),
      .kind = Value::kind};
  if (elements.count > 0) elements.count *= elements.per_value();
  return elements;
}

template <OffsetView View>
Elements describe_values(const View& view) {
  return describe_values(view.view());
}

/// Of a View that a collective writes.
template <class View>
Elements describe_values_in_place(const View& view) {
  static_assert(!std::is_const_v<typename View::value_type>,
                "a collective in place needs a View that it can write");
  return describe_values(view);
}

template <class View>
Elements describe_elements(const View& view) {
  static_assert(ElementsOfValue<typename View::non_const_value_type>::kind == ValueKind::number,
                "buckets and tiles are made of numbers, not of complex ones");
  return describe_values_in_place(view);
}

}  // namespace selvage::detail
