#pragma once

#include <selvage/comm/detail/memory_kind.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

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

}  // namespace selvage::detail
