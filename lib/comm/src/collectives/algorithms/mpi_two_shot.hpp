#pragma once

#include "allreduce_algorithm.hpp"
#include "group_collective.hpp"

#include <memory>

namespace selvage::detail {

/// two_shot by messages of MPI: ranks send parts to the ranks that combine them, which send the results back. Works everywhere. Each
/// rank sends and receives 2 (n - 1) / n of the elements, the least that an allreduce can move. Combines in rank order.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_mpi_two_shot(const AllreduceParts& parts);
[[nodiscard]] std::unique_ptr<GroupCollective> make_mpi_two_shot_group(const GroupParts& parts);

}  // namespace selvage::detail
