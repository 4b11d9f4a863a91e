#pragma once

#include "allreduce_algorithm.hpp"

#include <memory>

namespace selvage::detail {

/// Two-shot by MPI's messages, for collectives whose ranks end with different elements: parts are those of the whole
/// View, and pass in slices. Works between all ranks; elements of GPUs pass through host memory. Collective.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_mpi_parts(const AllreduceParts& parts);

}  // namespace selvage::detail
