#pragma once

#include <mpi.h>

#include <functional>

namespace selvage::bench {

/// The main of a benchmark over MPI: starts MPI and Kokkos, registers, runs, and lets rank 0 alone report. The flags are
/// Google Benchmark's; its JSON file (--benchmark_out=FILE) is the record, with the commit, the machine, MPI and the settings
/// of what is compared in its context.
/// \param register_all  registers the benchmarks: every rank the same, in the same order
/// \return the exit code. Where something fails to verify or throws, all ranks end with 1, and there is no record
int mpi_bench_main(int argc, char** argv, const std::function<void(MPI_Comm comm)>& register_all);

}  // namespace selvage::bench
