#pragma once

#include "peer_kernels.hpp"

namespace selvage::detail {

/// Gives this rank's credits and waits for those of its peers; copies of the epoch come after it.
void launch_open(const PeerProgram& program, cudaStream_t stream);
/// Releases the arrival flags of all peers that are put to, and ends the epoch's put.
void launch_publish(const PeerProgram& program, cudaStream_t stream);

}  // namespace selvage::detail
