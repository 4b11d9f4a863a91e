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
[[nodiscard]] constexpr ElementType integer_type(std::size_t bytes, bool is_signed) {
  switch (bytes) {
    case 1:
      return is_signed ? ElementType::int8 : ElementType::uint8;
    case 2:
      return is_signed ? ElementType::int16 : ElementType::uint16;
    case 4:
      return is_signed ? ElementType::int32 : ElementType::uint32;
    default:
      return is_signed ? ElementType::int64 : ElementType::uint64;
  }
}
/// All integers by their width, long long and char too; bool has no sum.
template <std::integral T>
requires(!std::is_same_v<T, bool> && sizeof(T) <= 8) struct ElementTypeOf<T>
    : KnownElementType<integer_type(sizeof(T), std::is_signed_v<T>)> {
};

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
