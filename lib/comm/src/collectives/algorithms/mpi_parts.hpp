#pragma once

#include "allreduce_algorithm.hpp"

#include <memory>

namespace selvage::detail {

/// Two-shot by messages of MPI, for collectives after which ranks hold different elements. The View is divided into parts as a whole, and
/// the parts are exchanged in slices. Works between all ranks; elements in GPU memory pass through host memory. Collective.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_mpi_parts(const AllreduceParts& parts);

}  // namespace selvage::detail
