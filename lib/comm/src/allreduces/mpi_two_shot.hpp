#pragma once

#include "allreduce_algorithm.hpp"

#include <memory>

namespace selvage::detail {

/// two_shot by MPI's messages: parts to the ranks that combine them, results back. Works everywhere; moves the least
/// that any allreduce can, 2 (n - 1) / n of the elements out of each rank and as much into it.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_mpi_two_shot(const AllreduceParts& parts);

}  // namespace selvage::detail
