#include "copy_engine_kernels.hpp"

#include "device_wait.hpp"
#include "gpu/cuda/check.hpp"

namespace selvage::detail {
namespace {

constexpr int threads = 32;  ///< at most 26 neighbours

__global__ void open_kernel(PeerProgram program) {
  if (program.state->failed != 0) return;
  const std::uint64_t epoch = program.state->epoch + 1;
  for (std::uint32_t i = threadIdx.x; i < program.peer_count; i += blockDim.x) {
    // Publishes to the peer: what was enqueued before this kernel is past its reads of what the peer will
    // overwrite.
    if (program.peers[i].gives_credit) release_epoch(program.peers[i].remote->credit, epoch);
  }
  for (std::uint32_t i = threadIdx.x; i < program.peer_count; i += blockDim.x) {
    const DevicePeer& peer = program.peers[i];
    if (peer.awaits_credit && !wait_for(program, peer, peer.own->credit, epoch, Fault::credit_late)) return;
  }
}

__global__ void publish_kernel(PeerProgram program) {
  if (program.state->failed != 0) return;
  const std::uint64_t epoch = program.state->epoch + 1;
  for (std::uint32_t i = threadIdx.x; i < program.peer_count; i += blockDim.x) {
    const DevicePeer& peer = program.peers[i];
    if (peer.blocks == 0) continue;
    peer.remote->operations[epoch % 2] = program.operation;
    // Publishes to the peer: the copies before this kernel, which are done when it starts, and the operation
    // they belong to.
    release_epoch(peer.remote->arrived, epoch);
  }
  __syncwarp();
  if (threadIdx.x == 0) program.state->epoch = epoch;
}

}  // namespace

void launch_open(const PeerProgram& program, cudaStream_t stream) {
  open_kernel<<<1, threads, 0, stream>>>(program);
  check_cuda(cudaGetLastError(), "launching comm::open");
}

void launch_publish(const PeerProgram& program, cudaStream_t stream) {
  publish_kernel<<<1, threads, 0, stream>>>(program);
  check_cuda(cudaGetLastError(), "launching comm::publish");
}

}  // namespace selvage::detail
