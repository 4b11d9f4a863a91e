#pragma once

#include "allreduce_algorithm.hpp"

#include <memory>

namespace selvage::detail {

/// Ranks of one host share a buffer that the first of them owns: the others copy their elements into slots of it, it
/// combines them as they come, in rank order, and all copy the result out of a place of its own (Faraji, thesis 3.2.1,
/// GPU Shared Buffer). On hosts only.
///
/// Epochs that grow, on a cache line each, instead of bits in a directory that are set and toggled; the buffer holds two
/// chunks, and longer elements pass through it chunk by chunk.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_shared_buffer_tree(const AllreduceParts& parts);

}  // namespace selvage::detail
