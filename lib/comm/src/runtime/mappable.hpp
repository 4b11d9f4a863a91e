#pragma once

#include <selvage/comm/detail/executor.hpp>
#include <selvage/comm/detail/field.hpp>

#include <cstddef>
#include <string_view>

namespace selvage::detail {

class ContextState;

/// Zeroed memory where the executor's kernels work that ranks of this host can map: shared host memory, or GPU
/// memory. \throws Error{io}, Error{cuda}
[[nodiscard]] Buffer allocate_mappable(ContextState& context, const Executor& executor, std::size_t bytes);

/// What is said of memory for which ContextState::name_memory() has no name.
[[nodiscard]] std::string_view why_unmappable(MemoryKind memory);

}  // namespace selvage::detail
