#pragma once

#include "allreduce_algorithm.hpp"
#include "group_collective.hpp"

#include <memory>

namespace selvage::detail {

/// In step l = 0, 1, ... ranks at a distance of 2^l exchange their combined values and combine these, those of the lower ranks first. It has
/// the fewest waits, and is for few elements. If the number of ranks is no power of two, the first ranks form pairs, each of which takes part
/// as one rank. By messages of MPI; elements in GPU memory pass through host memory.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_recursive_doubling(const AllreduceParts& parts);
[[nodiscard]] std::unique_ptr<GroupCollective> make_recursive_doubling_group(const GroupParts& parts);

}  // namespace selvage::detail
