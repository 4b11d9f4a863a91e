#pragma once

#include "records.hpp"

#include <mpi.h>

#include <functional>
#include <vector>

namespace selvage::bench {

/// The main of a benchmark over MPI: starts MPI and Kokkos, registers, runs, and lets rank 0 alone report.
///
/// Besides Google Benchmark's flags, `--selvage_records=FILE` writes the figures as records.
/// \param register_all  registers the benchmarks and is given the list that they append their records to;
/// every rank
///                      registers the same, in the same order, with a fixed number of iterations
/// \return the exit code: 1 when a benchmark failed to verify or threw
int mpi_bench_main(int argc, char** argv,
                   const std::function<void(MPI_Comm comm, std::vector<Record>& records)>& register_all);

}  // namespace selvage::bench
