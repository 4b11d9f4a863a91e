#pragma once

#include "allreduce_algorithm.hpp"
#include "group_collective.hpp"

#include <memory>

namespace selvage::detail {

/// In step l = 0, 1, ... ranks at a distance of 2^l swap what they have combined and combine it, the lower ranks' first:
/// the fewest waits, for few elements. Where ranks are no power of two, the first ones form pairs that take part as one.
/// By MPI's messages; GPUs stage through host memory.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_recursive_doubling(const AllreduceParts& parts);
[[nodiscard]] std::unique_ptr<GroupCollective> make_recursive_doubling_group(const GroupParts& parts);

}  // namespace selvage::detail
