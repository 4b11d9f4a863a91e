#pragma once

#include <selvage/topo/machine.hpp>

#include <mpi.h>

#include <map>
#include <string>

namespace selvage::bench {

/// What a record says of where and how it was made: "commit", "hardware" (SELVAGE_HARDWARE, or processors and their model),
/// "ranks", "MPI", "UCX" where MPI has loaded it, "Kokkos", "compiler", those of gpu_facts(), the "order" of contenders, and
/// "settings": the environment's switches of what is compared (NCCL, UCX, Open MPI).
[[nodiscard]] std::map<std::string, std::string> machine_facts(MPI_Comm comm);

/// How many GPUs the ranks use; 0 on hosts.
[[nodiscard]] int gpu_count(const topo::Machine& machine);
/// "2rank" on hosts, "2gpu" with a GPU each, else "4rank1gpu": part of a figure's name.
[[nodiscard]] std::string ranks_text(const topo::Machine& machine);

}  // namespace selvage::bench
