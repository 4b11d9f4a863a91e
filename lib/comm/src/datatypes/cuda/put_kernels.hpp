#pragma once

#include "layouts/cuda/run_kernels.hpp"
#include "links/cuda/peer_kernels.hpp"

namespace selvage::detail {

/// All copies to partners.
struct PutProgram {
  RunProgram copies;
  PeerProgram signals;  ///< partners, epoch and fault; without chunks of its own
};

/// Gives credits, waits for each partner's, copies, and releases a partner's arrival flag when the last block
/// of threads that puts to it is done.
void launch_put_runs(const PutProgram& program, cudaStream_t stream);

}  // namespace selvage::detail
