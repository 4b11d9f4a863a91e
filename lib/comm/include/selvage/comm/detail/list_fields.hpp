#pragma once

#include <selvage/comm/shifted.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace selvage::detail {

/// Elements of one View, in [particle, component]. In a packed particle they begin at `offset`.
template <class View>
struct PlainField {
  static_assert(Kokkos::is_view_v<View>, "selvage moves Kokkos::Views, or what shifted() makes of them");
  static_assert(View::rank() == 1 || View::rank() == 2,
                "a field of particles has rank 1, or 2 with components last");
  using Element = typename View::value_type;
  static_assert(!std::is_const_v<Element>,
                "the ghosts of a View of const elements can't be filled: pass the View it was made from");
  static_assert(std::is_trivially_copyable_v<Element>,
                "elements travel as bytes: they must be trivially copyable");
  using MemorySpace = typename View::memory_space;
  static constexpr int last_axis = static_cast<int>(View::rank()) - 1;

  View view;
  int components;
  std::int64_t offset;

  /// As many as `components`; where the View's type has the number, so has the compiler, which then unrolls loops.
  [[nodiscard]] KOKKOS_FUNCTION int count() const {
    using Data = typename View::data_type;
    if constexpr (View::rank() == 1) {
      return 1;
    } else if constexpr (std::rank_v<Data> > 0) {
      return static_cast<int>(std::extent_v<Data, std::rank_v<Data> - 1>);
    } else {
      return components;
    }
  }

  KOKKOS_FUNCTION Element& at(std::int64_t particle, int component) const {
    if constexpr (View::rank() == 1) {
      return view(particle);
    } else {
      return view(particle, component);
    }
  }
  KOKKOS_FUNCTION Element& in(std::byte* packed, int component) const {
    return reinterpret_cast<Element*>(packed + offset)[component];
  }

  KOKKOS_FUNCTION void load(std::int64_t particle, std::int64_t /*place*/, int component,
                            std::byte* packed) const {
    in(packed, component) = at(particle, component);
  }
  KOKKOS_FUNCTION void store(std::int64_t particle, int component, std::byte* packed) const {
    at(particle, component) = in(packed, component);
  }
  KOKKOS_FUNCTION void add(std::int64_t particle, int component, std::byte* packed) const {
    at(particle, component) = at(particle, component) + in(packed, component);
  }
};

template <class View, class Vectors, class Which>
struct ShiftedField : PlainField<View> {
  static_assert(View::rank() == 2 && std::is_floating_point_v<typename View::value_type>,
                "only a View of rank 2 of floating-point numbers can be shifted");
  static_assert(Vectors::rank() == 2, "shifts have rank 2: a vector per row");
  Vectors vectors;
  Which which;

  KOKKOS_FUNCTION void load(std::int64_t particle, std::int64_t place, int component,
                            std::byte* packed) const {
    const auto row = static_cast<std::int64_t>(which(place));
    this->in(packed, component) = this->at(particle, component) + vectors(row, component);
  }
};

template <class View>
struct FieldOf {
  using type = PlainField<View>;
  static constexpr bool is_shifted = false;
  static type make(const View& view, std::int64_t offset) {
    int components = 1;
    if constexpr (View::rank() == 2) components = static_cast<int>(view.extent(1));
    return {view, components, offset};
  }
};
template <class View, class Vectors, class Which>
struct FieldOf<ShiftedView<View, Vectors, Which>> {
  using type = ShiftedField<View, Vectors, Which>;
  static constexpr bool is_shifted = true;
  static type make(const ShiftedView<View, Vectors, Which>& shifted, std::int64_t offset) {
    return {FieldOf<View>::make(shifted.view, offset), shifted.vectors, shifted.which};
  }
};

/// The fields of one call: a plain list that kernels can copy. Components are numbered through all fields.
template <class... Fields>
struct FieldList;
template <>
struct FieldList<> {
  [[nodiscard]] KOKKOS_FUNCTION int components() const { return 0; }
  template <class Function>
  KOKKOS_FUNCTION void with_component(int, const Function&) const {}
  template <class Function>
  KOKKOS_FUNCTION void each_component(const Function&) const {}
  template <class Function>
  void each_field(const Function&) const {}
};
template <class First, class... Rest>
struct FieldList<First, Rest...> {
  First first;
  FieldList<Rest...> rest;

  [[nodiscard]] KOKKOS_FUNCTION int components() const { return first.count() + rest.components(); }
  /// function(field, component of the field)
  template <class Function>
  KOKKOS_FUNCTION void with_component(int number, const Function& function) const {
    if (number < first.count()) {
      function(first, number);
    } else {
      rest.with_component(number - first.count(), function);
    }
  }
  template <class Function>
  KOKKOS_FUNCTION void each_component(const Function& function) const {
    for (int component = 0; component < first.count(); ++component) function(first, component);
    rest.each_component(function);
  }
  template <class Function>
  void each_field(const Function& function) const {
    function(first);
    rest.each_field(function);
  }
};

inline FieldList<> make_fields(std::int64_t /*offset*/) {
  return {};
}
/// Places the fields one after the other in a packed particle, each aligned as its elements are.
template <class First, class... Rest>
auto make_fields(std::int64_t offset, const First& first, const Rest&... rest) {
  using Placed = typename FieldOf<First>::type;
  using Element = typename Placed::Element;
  constexpr std::int64_t alignment = alignof(Element);
  const Placed field = FieldOf<First>::make(first, (offset + alignment - 1) / alignment * alignment);
  const std::int64_t end = field.offset + field.components * static_cast<std::int64_t>(sizeof(Element));
  auto others = make_fields(end, rest...);
  return FieldList<Placed, typename FieldOf<Rest>::type...>{field, others};
}

}  // namespace selvage::detail
