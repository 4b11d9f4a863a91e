#pragma once

#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

namespace selvage::app {

/// Names and values, in the order in which they are shown.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// What can be said about the build and the machine without a communication plan: commit, compiler, Kokkos,
/// MPI, HDF5, ranks, hosts. Collective; all ranks get the same.
[[nodiscard]] Facts environment_facts(MPI_Comm comm);

}  // namespace selvage::app
