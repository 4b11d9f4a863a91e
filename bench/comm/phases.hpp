#pragma once

#include "../support/records.hpp"
#include "edge_steps.hpp"

#include <cstdint>
#include <vector>

namespace selvage::bench {

/// Where the time of one step goes, for every initiation over peer memory and for staged MPI, on one clock:
/// the host's, which all ranks of a host share; kernels' clocks are set against it.
///
/// launch: from the call on the host until the kernel runs. compute: until the edges are written. trigger:
/// until the transfer is under way (the kernel's put is done, or start() has returned; 0 when it was enqueued
/// ahead). wire: until the neighbour's rows are here. teardown: until the host knows.
/// \return one record per phase and initiation, medians over steps of the slowest rank's
[[nodiscard]] std::vector<Record> phase_records(EdgeRows& rows, std::int64_t bytes);

}  // namespace selvage::bench
