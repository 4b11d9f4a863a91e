#include "engine_copy.hpp"

#include <algorithm>
#include <limits>

namespace selvage::detail {
namespace {

struct PitchedAxis {
  std::int64_t extent;
  std::int64_t source_stride;
  std::int64_t target_stride;
};

/// The largest pitch that CUDA accepts; see cudaDevAttrMaxPitch.
constexpr std::int64_t largest_pitch = std::numeric_limits<std::int32_t>::max();

bool is_pitch(const PitchedAxis& axis, std::int64_t row_bytes) {
  return std::min(axis.source_stride, axis.target_stride) >= row_bytes &&
         std::max(axis.source_stride, axis.target_stride) <= largest_pitch;
}

bool is_slice(const PitchedAxis& axis, const PitchedAxis& rows) {
  const auto fits = [&](std::int64_t stride, std::int64_t pitch) {
    return stride % pitch == 0 && stride / pitch >= rows.extent;
  };
  return fits(axis.source_stride, rows.source_stride) && fits(axis.target_stride, rows.target_stride);
}

/// The axes that one copy covers; 4 means none.
struct Choice {
  std::size_t rows = 4;
  std::size_t slices = 4;
  std::int64_t extent = 1;
};

/// Chooses the axes with which the box takes the fewest copies.
Choice choose(const std::vector<PitchedAxis>& axes, std::int64_t row_bytes) {
  Choice best;
  const auto consider = [&](const Choice& choice) {
    if (choice.extent > best.extent) best = choice;
  };
  for (std::size_t rows = 0; rows < axes.size(); ++rows) {
    if (!is_pitch(axes[rows], row_bytes)) continue;
    consider({rows, 4, axes[rows].extent});
    for (std::size_t slices = 0; slices < axes.size(); ++slices) {
      if (slices != rows && is_slice(axes[slices], axes[rows]))
        consider({rows, slices, axes[rows].extent * axes[slices].extent});
    }
  }
  return best;
}

bool continues(const EngineCopy& last, const EngineCopy& next) {
  return last.rows * last.slices == 1 && next.rows * next.slices == 1 &&
         last.source + last.row_bytes == next.source && last.target + last.row_bytes == next.target;
}

void append(const EngineCopy& copy, std::vector<EngineCopy>& copies) {
  if (!copies.empty() && continues(copies.back(), copy)) {
    copies.back().row_bytes += copy.row_bytes;
  } else {
    copies.push_back(copy);
  }
}

/// Appends one copy per index of the remaining axes.
void append_each(EngineCopy copy, std::vector<PitchedAxis> axes, std::vector<EngineCopy>& copies) {
  if (axes.empty()) return append(copy, copies);
  const PitchedAxis axis = axes.front();
  axes.erase(axes.begin());
  for (std::int64_t i = 0; i < axis.extent; ++i) {
    append_each(copy, axes, copies);
    copy.source += axis.source_stride;
    copy.target += axis.target_stride;
  }
}

}  // namespace

void append_engine_copies(const CopyBox& box, std::vector<EngineCopy>& copies) {
  const bool has_rows = box.rows_are_contiguous();
  const std::int64_t row_bytes = has_rows ? box.extents[3] * box.element_bytes : box.element_bytes;
  std::vector<PitchedAxis> axes;
  for (int axis = 0; axis < (has_rows ? 3 : 4); ++axis) {
    if (box.extents[axis] > 1)
      axes.push_back({box.extents[axis], box.source_strides[axis], box.target_strides[axis]});
  }
  const Choice choice = choose(axes, row_bytes);
  const PitchedAxis none{1, 0, 0};
  const PitchedAxis rows = choice.rows < axes.size() ? axes[choice.rows] : none;
  const PitchedAxis slices = choice.slices < axes.size() ? axes[choice.slices] : none;
  std::vector<PitchedAxis> others;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (axis != choice.rows && axis != choice.slices) others.push_back(axes[axis]);
  }
  const auto side = [&](std::int64_t pitch, std::int64_t slice) {
    return EngineCopy::Side{static_cast<std::size_t>(pitch),
                            static_cast<std::size_t>(slice > 0 ? slice / pitch : rows.extent)};
  };
  append_each({.source = box.source,
               .target = box.target,
               .row_bytes = static_cast<std::size_t>(row_bytes),
               .rows = static_cast<std::size_t>(rows.extent),
               .slices = static_cast<std::size_t>(slices.extent),
               .from = side(rows.source_stride, slices.source_stride),
               .to = side(rows.target_stride, slices.target_stride)},
              others, copies);
}

bool fills_a_block(const CopyBox& box) {
  std::vector<PitchedAxis> axes;
  for (int axis = 0; axis < 4; ++axis) {
    if (box.extents[axis] > 1) axes.push_back({box.extents[axis], 0, box.target_strides[axis]});
  }
  std::ranges::sort(axes, {}, &PitchedAxis::target_stride);
  std::int64_t block_bytes = box.element_bytes;
  for (const PitchedAxis& axis : axes) {
    if (axis.target_stride != block_bytes) return false;
    block_bytes *= axis.extent;
  }
  return true;
}

}  // namespace selvage::detail
