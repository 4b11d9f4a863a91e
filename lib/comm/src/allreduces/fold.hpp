#pragma once

#include <selvage/comm/allreduce_options.hpp>
#include <selvage/comm/element_types.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace selvage::detail {

/// Combines `count` elements of every rank's `inputs`, in rank order, into each of `outputs`; on the calling thread.
/// An output may be an input. Host memory.
void fold(ElementType type, ReduceOperation operation, std::span<const std::byte* const> inputs,
          std::span<std::byte* const> outputs, std::int64_t count);

/// The part of `count` elements that a rank combines for all: whole cache lines, but for the last.
struct Part {
  std::int64_t begin = 0;
  std::int64_t count = 0;
};
[[nodiscard]] Part part_of(std::int64_t count, int rank, int ranks, std::size_t element_bytes);

}  // namespace selvage::detail
