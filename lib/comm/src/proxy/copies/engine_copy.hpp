#pragma once

#include <selvage/comm/detail/copy_box.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace selvage::detail {

/// One copy of a copy engine: rows of bytes. Each side has its own distance between rows and number of rows between slices.
struct EngineCopy {
  struct Side {
    std::size_t pitch_bytes = 0;
    std::size_t slice_rows = 0;
  };
  const std::byte* source = nullptr;
  std::byte* target = nullptr;
  std::size_t row_bytes = 0;
  std::size_t rows = 1;
  std::size_t slices = 1;
  Side from;
  Side to;
};

/// Appends the copies that make up a box: one if its strides allow, and otherwise one for each index of the axes that don't fit. A
/// contiguous copy that continues the last one is merged with it.
void append_engine_copies(const CopyBox& box, std::vector<EngineCopy>& copies);

/// Whether the box's target is one contiguous block, whatever the order of its elements.
[[nodiscard]] bool fills_a_block(const CopyBox& box);

}  // namespace selvage::detail
