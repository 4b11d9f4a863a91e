#pragma once

#include "allreduce_algorithm.hpp"
#include "group_collective.hpp"

#include <memory>

namespace selvage::detail {

/// Each rank adds its elements to the part that the rank before it has sent, and sends the part to the next rank, until every rank holds
/// one complete part. Then these travel around the ring. Each rank sends 2 (n - 1) / n of the elements, to one neighbour.
/// By messages of MPI; elements in GPU memory pass through host memory.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_ring(const AllreduceParts& parts);
/// The same in short segments, several at a time: a rank adds to one segment while others are being sent, and buffers stay small.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_segmented_ring(const AllreduceParts& parts);
[[nodiscard]] std::unique_ptr<GroupCollective> make_ring_group(const GroupParts& parts);

}  // namespace selvage::detail
