#pragma once

#include "part.hpp"

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

}  // namespace selvage::detail
