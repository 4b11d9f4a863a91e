#pragma once

#include "part.hpp"

#include <selvage/comm/allreduce_options.hpp>
#include <selvage/comm/elements.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace selvage::detail {

/// Combines `count` elements of every rank's `inputs`, in rank order, into each of `outputs`; on the calling thread.
/// An output may be an input. Host memory.
void fold(ElementType type, ReduceOperation operation, std::span<const std::byte* const> inputs,
          std::span<std::byte* const> outputs, std::int64_t count);

/// The type of elements while they are combined. 16-bit types are sent between ranks as fp32.
[[nodiscard]] ElementType accumulator_type(ElementType type);
[[nodiscard]] inline std::size_t accumulator_bytes(ElementType type) {
  return element_bytes(accumulator_type(type));
}
/// The same in several calls. Combines `inputs`, of consecutive ranks, with `combined`, the result for the ranks before them.
/// \param combined  accumulators \param is_first  there are no ranks before: `combined` is overwritten
void fold_on(ElementType type, ReduceOperation operation, std::span<const std::byte* const> inputs,
             bool is_first, std::byte* combined, std::int64_t count);
/// Converts the combined values of all `ranks` to elements.
void conclude_fold(ElementType type, ReduceOperation operation, int ranks, const std::byte* combined,
                   std::byte* output, std::int64_t count);

}  // namespace selvage::detail
