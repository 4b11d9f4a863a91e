#include "put_kernels.hpp"

#include "gpu/cuda/check.hpp"
#include "layouts/cuda/run_chunks.hpp"
#include "links/cuda/device_wait.hpp"

namespace selvage::detail {
namespace {

__device__ void put_chunk_of_runs(const PutProgram& program, const RunChunk& chunk, std::uint64_t epoch) {
  DevicePeer& peer = program.signals.peers[chunk.peer];
  __shared__ bool free;
  if (threadIdx.x == 0) {
    // Acquires that the partner no longer reads what this put overwrites. After a failure nothing may pass for
    // a later epoch: a graph may go on to be replayed.
    free = program.signals.state->failed == 0 &&
           wait_for(program.signals, peer, peer.own->credit, epoch, Fault::credit_late);
  }
  __syncthreads();
  if (free) copy_chunk_of_runs(program.copies, chunk);
  __syncthreads();
  // A block that has not put is not counted in, so that no other one publishes in its place.
  if (threadIdx.x != 0 || !free || !is_last_of(peer.blocks_done, peer.blocks)) return;
  peer.remote->operations[epoch % 2] = program.signals.operation;
  // Publishes to the partner: the chunks of all blocks, counted in above.
  release_epoch(peer.remote->arrived, epoch);
}

__global__ void __launch_bounds__(run_threads_per_block) put_runs_kernel(PutProgram program) {
  const PeerProgram& signals = program.signals;
  const std::uint64_t epoch = signals.state->epoch + 1;
  if (blockIdx.x == 0) {
    for (std::uint32_t i = threadIdx.x; i < signals.peer_count; i += blockDim.x) {
      // Publishes to a partner that will put: kernels before this one are past their reads.
      if (signals.peers[i].gives_credit) release_epoch(signals.peers[i].remote->credit, epoch);
    }
  }
  if (blockIdx.x < program.copies.chunk_count)
    put_chunk_of_runs(program, program.copies.chunks[blockIdx.x], epoch);
  // Where nothing is put, nothing else keeps thread 0 from passing the epoch on before all threads have read it.
  if (program.copies.chunk_count == 0) __syncthreads();
  if (threadIdx.x == 0 && is_last_of(signals.state->blocks_done, gridDim.x)) signals.state->epoch = epoch;
}

}  // namespace

void launch_put_runs(const PutProgram& program, cudaStream_t stream) {
  const unsigned blocks = program.copies.chunk_count > 0 ? program.copies.chunk_count : 1;
  put_runs_kernel<<<blocks, run_threads_per_block, 0, stream>>>(program);
  check_cuda(cudaGetLastError(), "launching comm::put_runs");
}

}  // namespace selvage::detail
