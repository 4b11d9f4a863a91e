#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace selvage::app {

/// Every rank's `values`, rank by rank, on every rank; adding them up in that order gives the same bits
/// everywhere, whatever MPI does. As many values on each rank. Collective; waits no longer than
/// SELVAGE_TIMEOUT_MS.
/// \param what  what is being computed, for the message
/// \throws Error{timeout}; who did not come is for together() to find out
[[nodiscard]] std::vector<double> gather_everywhere(MPI_Comm comm, std::string_view what,
                                                    std::span<const double> values);

/// The sum over all ranks, in rank order. Collective like gather_everywhere().
[[nodiscard]] double sum_over_ranks(MPI_Comm comm, std::string_view what, double value);
/// For each place of `counts` the sum over all ranks, exact in any order. Collective like gather_everywhere().
[[nodiscard]] std::vector<std::int64_t> sum_counts(MPI_Comm comm, std::string_view what,
                                                   std::span<const std::int64_t> counts);
/// The largest over all ranks. Collective like gather_everywhere().
[[nodiscard]] double max_over_ranks(MPI_Comm comm, std::string_view what, double value);

}  // namespace selvage::app
