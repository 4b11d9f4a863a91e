#pragma once

#include <selvage/comm/context.hpp>

#include <cstdint>
#include <string>

namespace selvage::bench {

/// Registers where the time of one step goes, for every initiation over peer memory and for staged MPI, on one clock:
/// the host's, which all ranks of a host share; kernels' clocks are set against it.
///
/// launch: from the call on the host until the kernel runs. compute: until the edges are written. trigger:
/// until the transfer is under way (the kernel's put is done, or start() has returned; 0 when it was enqueued
/// ahead). wire: until the neighbour's rows are here. teardown: until the host knows. Values are "kernel: launch, us", of the
/// slowest rank.
void register_phases(const std::string& name, const Context& context, std::int64_t bytes);

}  // namespace selvage::bench
