#pragma once

#include <selvage/comm/detail/memory_kind.hpp>
#include <selvage/error.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace selvage::detail {

/// A View with its type taken off: what lies below the host/device seam. Strides are in bytes.
struct Field {
  std::string label;
  std::byte* data = nullptr;
  std::array<std::int64_t, 4> extents{1, 1, 1, 1};
  std::array<std::int64_t, 4> strides{};
  int rank = 0;
  std::int64_t element_bytes = 0;
  MemoryKind memory = MemoryKind::host;

  /// From the first byte of the View to one past its last.
  [[nodiscard]] std::int64_t span_bytes() const {
    std::int64_t last = 0;
    for (int axis = 0; axis < rank; ++axis) last += (extents[axis] - 1) * strides[axis];
    return last + element_bytes;
  }
};

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

}  // namespace selvage::detail
