#pragma once

#include <selvage/comm/detail/copy_box.hpp>
#include <selvage/comm/detail/field.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace selvage::detail {

/// A block of a View in View indices: where it starts and how far it reaches.
struct Region {
  std::array<std::int64_t, 4> begin{};
  std::array<std::int64_t, 4> extents{1, 1, 1, 1};

  [[nodiscard]] std::int64_t elements() const { return extents[0] * extents[1] * extents[2] * extents[3]; }
};

/// How a View lies in memory: all of it that a copy needs to know. Strides are in bytes.
struct Layout {
  std::array<std::int64_t, 4> strides{};
  std::int64_t element_bytes = 0;
};

[[nodiscard]] inline Layout layout_of(const Field& field) {
  return {.strides = field.strides, .element_bytes = field.element_bytes};
}

/// A region's cells without gaps, the axes in the order of a View's strides: its rows stay rows.
[[nodiscard]] Layout packed_like(const Region& region, const Layout& view);

/// What a copy is for: moving bytes may merge neighbouring elements into wider ones, combining may not.
enum class BoxUse { move, combine };

/// A View's region on both sides, each side with its own layout; extents must be equal.
[[nodiscard]] CopyBox view_to_view(const std::byte* source, const Layout& source_layout, const Region& from,
                                   std::byte* target, const Layout& target_layout, const Region& to,
                                   BoxUse use);
/// A View's region to a contiguous buffer, packed like the owner's View, whose order of axes both sides know.
[[nodiscard]] CopyBox view_to_buffer(const std::byte* view, const Layout& layout, const Region& region,
                                     std::byte* buffer, const Layout& owners);
/// The inverse of view_to_buffer.
[[nodiscard]] CopyBox buffer_to_view(const std::byte* buffer, const Layout& owners, std::byte* view,
                                     const Layout& layout, const Region& region, BoxUse use);

/// Flattens a box once, at planning (Chu et al., layout flattening): drops axes of extent 1, sorts the rest
/// so that the innermost has the smallest stride, merges axes that are contiguous on both sides, and, for
/// moves, turns short contiguous aligned rows into single elements of up to 16 bytes.
[[nodiscard]] CopyBox merge_axes(CopyBox box, BoxUse use);

}  // namespace selvage::detail
