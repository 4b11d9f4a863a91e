#include "layout.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace selvage::detail {
namespace {

struct Axis {
  std::int64_t extent;
  std::int64_t source_stride;
  std::int64_t target_stride;
};

std::vector<Axis> sorted_axes(const CopyBox& box) {
  std::vector<Axis> axes;
  for (int axis = 0; axis < 4; ++axis) {
    if (box.extents[axis] != 1)
      axes.push_back({box.extents[axis], box.source_strides[axis], box.target_strides[axis]});
  }
  std::stable_sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) {
    return std::max(a.source_stride, a.target_stride) > std::max(b.source_stride, b.target_stride);
  });
  return axes;
}

/// Merges an axis into its outer neighbour where stepping the outer one continues the inner one on both
/// sides.
std::vector<Axis> merged(const std::vector<Axis>& axes) {
  std::vector<Axis> result;
  for (const Axis& inner : axes) {
    if (!result.empty() && result.back().source_stride == inner.extent * inner.source_stride &&
        result.back().target_stride == inner.extent * inner.target_stride) {
      result.back() = {result.back().extent * inner.extent, inner.source_stride, inner.target_stride};
    } else {
      result.push_back(inner);
    }
  }
  return result;
}

bool is_aligned(const CopyBox& box, const std::vector<Axis>& axes, std::int64_t bytes) {
  const auto misaligned = [bytes](std::int64_t value) { return value % bytes != 0; };
  if (misaligned(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(box.source)))) return false;
  if (misaligned(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(box.target)))) return false;
  return std::none_of(axes.begin(), axes.end(), [&](const Axis& axis) {
    return misaligned(axis.source_stride) || misaligned(axis.target_stride);
  });
}

/// A row of 2 floats next to strided columns is one 8-byte element: the loop then runs along the columns.
void widen_short_rows(CopyBox& box, std::vector<Axis>& axes) {
  if (axes.size() < 2) return;
  const Axis row = axes.back();
  const std::int64_t row_bytes = row.extent * box.element_bytes;
  const bool contiguous = row.source_stride == box.element_bytes && row.target_stride == box.element_bytes;
  const bool word = row_bytes == 2 || row_bytes == 4 || row_bytes == 8 || row_bytes == 16;
  if (!contiguous || !word) return;
  std::vector<Axis> outer(axes.begin(), axes.end() - 1);
  if (!is_aligned(box, outer, row_bytes)) return;
  axes = std::move(outer);
  box.element_bytes = row_bytes;
}

}  // namespace

CopyBox merge_axes(CopyBox box, BoxUse use) {
  if (box.elements() == 0) return box;
  std::vector<Axis> axes = merged(sorted_axes(box));
  if (use == BoxUse::move) widen_short_rows(box, axes);
  if (axes.empty()) axes.push_back({1, box.element_bytes, box.element_bytes});
  box.extents = {1, 1, 1, 1};
  box.source_strides = {};
  box.target_strides = {};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = 4 - axes.size() + i;
    box.extents[axis] = axes[i].extent;
    box.source_strides[axis] = axes[i].source_stride;
    box.target_strides[axis] = axes[i].target_stride;
  }
  return box;
}

namespace {

std::int64_t offset_of(const Layout& layout, const Region& region) {
  std::int64_t offset = 0;
  for (int axis = 0; axis < 4; ++axis) offset += region.begin[axis] * layout.strides[axis];
  return offset;
}

}  // namespace

Layout packed_like(const Region& region, const Layout& view) {
  std::array<int, 4> axes{0, 1, 2, 3};
  std::ranges::stable_sort(axes, {}, [&](int axis) { return view.strides[axis]; });
  Layout layout{.strides = {}, .element_bytes = view.element_bytes};
  std::int64_t stride = view.element_bytes;
  for (const int axis : axes) {
    layout.strides[axis] = stride;
    stride *= region.extents[axis];
  }
  return layout;
}

CopyBox view_to_view(const std::byte* source, const Layout& source_layout, const Region& from,
                     std::byte* target, const Layout& target_layout, const Region& to, BoxUse use) {
  CopyBox box;
  box.source = source + offset_of(source_layout, from);
  box.target = target + offset_of(target_layout, to);
  box.extents = from.extents;
  box.source_strides = source_layout.strides;
  box.target_strides = target_layout.strides;
  box.element_bytes = source_layout.element_bytes;
  return merge_axes(box, use);
}

CopyBox view_to_buffer(const std::byte* view, const Layout& layout, const Region& region, std::byte* buffer,
                       const Layout& owners) {
  const Region whole{.begin = {}, .extents = region.extents};
  return view_to_view(view, layout, region, buffer, packed_like(region, owners), whole, BoxUse::move);
}

CopyBox buffer_to_view(const std::byte* buffer, const Layout& owners, std::byte* view, const Layout& layout,
                       const Region& region, BoxUse use) {
  const Region whole{.begin = {}, .extents = region.extents};
  return view_to_view(buffer, packed_like(region, owners), whole, view, layout, region, use);
}

}  // namespace selvage::detail
