#pragma once

#include "allreduce_algorithm.hpp"

#include <memory>

namespace selvage::detail {

/// The ranks of a host share a buffer that the first of them owns. The others copy their elements to slots of the buffer. The first rank
/// combines them in rank order as they arrive, and all ranks copy the result from a separate part of the buffer (Faraji, thesis 3.2.1,
/// GPU Shared Buffer). On hosts only.
///
/// Flags are growing epochs, each on its own cache line, where the thesis sets and toggles bits in a directory. The buffer holds two
/// chunks; longer elements pass through it chunk by chunk.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_shared_buffer_tree(const AllreduceParts& parts);

}  // namespace selvage::detail
