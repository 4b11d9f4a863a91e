#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace selvage::detail {

/// One strided block to copy or combine: the unit that packs, puts and unpacks are made of.
///
/// Axis 3 is the innermost. Strides are in bytes. Axes are sorted and merged when a plan is made (see
/// merge_axes), so that a contiguous block is one row.
struct CopyBox {
  const std::byte* source = nullptr;
  std::byte* target = nullptr;
  std::array<std::int64_t, 4> extents{1, 1, 1, 1};
  std::array<std::int64_t, 4> source_strides{};
  std::array<std::int64_t, 4> target_strides{};
  std::int64_t element_bytes = 0;

  [[nodiscard]] std::int64_t elements() const { return extents[0] * extents[1] * extents[2] * extents[3]; }
  [[nodiscard]] std::int64_t bytes() const { return elements() * element_bytes; }
  [[nodiscard]] bool rows_are_contiguous() const {
    return source_strides[3] == element_bytes && target_strides[3] == element_bytes;
  }
};

}  // namespace selvage::detail
