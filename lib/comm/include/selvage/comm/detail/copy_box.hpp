#pragma once

#include <array>
#include <bit>
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

/// The largest word, up to 16 bytes, that a box's elements can be read and written in: nothing but their size
/// says how elements of a struct, or of a block packed from several Views, are aligned.
[[nodiscard]] inline int word_bytes(const CopyBox& box) {
  std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(box.source) |
                        reinterpret_cast<std::uintptr_t>(box.target) |
                        static_cast<std::uintptr_t>(box.element_bytes);
  for (int axis = 0; axis < 4; ++axis) {
    if (box.extents[axis] == 1) continue;
    bits |= static_cast<std::uintptr_t>(box.source_strides[axis] | box.target_strides[axis]);
  }
  constexpr std::uintptr_t widest = 16;
  return 1 << std::countr_zero(bits | widest);
}

}  // namespace selvage::detail
