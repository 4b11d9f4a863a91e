#pragma once

#include "allreduce_algorithm.hpp"
#include "group_collective.hpp"

#include <memory>

namespace selvage::detail {

/// two_shot by MPI's messages: parts to the ranks that combine them, results back. Works everywhere; moves the least
/// that any allreduce can, 2 (n - 1) / n of the elements out of each rank and as much into it. Combines in rank order.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_mpi_two_shot(const AllreduceParts& parts);
[[nodiscard]] std::unique_ptr<GroupCollective> make_mpi_two_shot_group(const GroupParts& parts);

}  // namespace selvage::detail
