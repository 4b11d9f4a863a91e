#pragma once

#include "allreduce_algorithm.hpp"
#include "group_collective.hpp"

#include <memory>

namespace selvage::detail {

/// Parts go round: each rank adds its elements to the part that the rank before has sent and sends it on, until every
/// rank holds one that is complete; then these go round. Each rank moves no more than 2 (n - 1) / n of the elements,
/// between two neighbours. By MPI's messages; GPUs stage through host memory.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_ring(const AllreduceParts& parts);
/// The same for short segments, several at a time: a rank adds to one while others are on their way, and buffers stay
/// small.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_segmented_ring(const AllreduceParts& parts);
[[nodiscard]] std::unique_ptr<GroupCollective> make_ring_group(const GroupParts& parts);

}  // namespace selvage::detail
