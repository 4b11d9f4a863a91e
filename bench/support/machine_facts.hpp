#pragma once

#include <mpi.h>

#include <map>
#include <string>

namespace selvage::bench {

/// What a record says of where and how it was made: "commit", "hardware" (SELVAGE_HARDWARE, or processors and their model),
/// "ranks", "MPI", "Kokkos", "compiler", the "order" of contenders, and "settings": the environment's switches of what is compared (NCCL, UCX, Open MPI).
[[nodiscard]] std::map<std::string, std::string> machine_facts(MPI_Comm comm);

}  // namespace selvage::bench
