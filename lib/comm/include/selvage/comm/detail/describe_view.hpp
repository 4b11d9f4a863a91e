#pragma once

#include <selvage/comm/detail/field.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace selvage::detail {

/// Kokkos' OffsetView, known by what it can do: its header isn't needed here.
template <class T>
concept OffsetView = requires(const T& view) {
  view.begins();
  requires Kokkos::is_view_v<decltype(view.view())>;
};

/// The View that an OffsetView indexes; any other View is itself.
template <class T>
struct PlainViewOf {
  using type = T;
};
template <OffsetView T>
struct PlainViewOf<T> {
  using type = decltype(std::declval<const T&>().view());
};
template <class T>
using PlainView = typename PlainViewOf<T>::type;

template <class View>
constexpr MemoryKind memory_kind() {
  using Space = typename View::memory_space;
  return Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible ? MemoryKind::host
                                                                          : MemoryKind::device;
}

template <class View>
Field describe_view(const View& view) {
  static_assert(Kokkos::is_view_v<View>, "selvage exchanges Kokkos::Views");
  static_assert(!std::is_const_v<typename View::value_type>,
                "the ghosts of a View of const elements can't be filled: pass the View it was made from");
  static_assert(std::is_trivially_copyable_v<typename View::value_type>,
                "elements travel as bytes: they must be trivially copyable");
  static_assert(View::rank() >= 1 && View::rank() <= 4, "selvage exchanges Views of rank 1 to 4");
  Field field;
  field.label = view.label();
  field.data = reinterpret_cast<std::byte*>(view.data());
  field.rank = static_cast<int>(View::rank());
  field.element_bytes = sizeof(typename View::value_type);
  field.memory = memory_kind<View>();
  for (int axis = 0; axis < field.rank; ++axis) {
    field.extents[axis] = static_cast<std::int64_t>(view.extent(axis));
    field.strides[axis] = static_cast<std::int64_t>(view.stride(axis)) * field.element_bytes;
  }
  return field;
}

template <OffsetView View>
Field describe_view(const View& view) {
  return describe_view(view.view());
}

}  // namespace selvage::detail
