#pragma once

#include <selvage/comm/detail/copy_box.hpp>

namespace selvage::detail {

/// Rows of a box: all axes but the innermost, flattened, axis 0 slowest.
[[nodiscard]] inline std::int64_t row_count(const CopyBox& box) {
  return box.extents[0] * box.extents[1] * box.extents[2];
}

/// Copies rows [first, last) of a box with the calling thread; host memory on both sides.
void copy_rows_on_host(const CopyBox& box, std::int64_t first, std::int64_t last);

}  // namespace selvage::detail
