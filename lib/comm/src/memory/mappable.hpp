#pragma once

#include <selvage/comm/detail/executor.hpp>

#include <cstddef>

namespace selvage::detail {

class ContextState;

/// Zeroed memory where the executor's kernels work that ranks of this host can map: shared host memory, or GPU
/// memory. \throws Error{io}, Error{cuda}
[[nodiscard]] Buffer allocate_mappable(ContextState& context, const Executor& executor, std::size_t bytes);

}  // namespace selvage::detail
