#include "peer_kernels.hpp"

#include "device_wait.hpp"
#include "gpu/cuda/check.hpp"

namespace selvage::detail {
namespace {

constexpr int threads_per_block = 512;

template <int Bytes>
struct alignas(Bytes) DeviceWord {
  unsigned char bytes[Bytes];
};

template <int WordBytes>
__device__ void copy_words(const DeviceCopy& copy, const Chunk& chunk, int parity) {
  using Unit = DeviceWord<WordBytes>;
  for (std::uint32_t i = threadIdx.x; i < chunk.elements; i += blockDim.x) {
    std::uint32_t element = chunk.first + i;
    std::int64_t source = 0;
    std::int64_t target = 0;
    for (int axis = 3; axis > 0; --axis) {
      const std::uint32_t index = element % copy.extents[axis];
      element /= copy.extents[axis];
      source += index * copy.source_strides[axis];
      target += index * copy.target_strides[axis];
    }
    source += element * copy.source_strides[0];
    target += element * copy.target_strides[0];
    const auto* from = reinterpret_cast<const Unit*>(copy.source[parity] + source);
    auto* to = reinterpret_cast<Unit*>(copy.target[parity] + target);
    for (int word = 0; word < copy.words; ++word) to[word] = from[word];
  }
}

__device__ void copy_chunk(const PeerProgram& program, const Chunk& chunk, int parity) {
  if (chunk.elements == 0) return;
  const DeviceCopy& copy = program.copies[chunk.copy];
  switch (copy.word_bytes) {
    case 16:
      return copy_words<16>(copy, chunk, parity);
    case 8:
      return copy_words<8>(copy, chunk, parity);
    case 4:
      return copy_words<4>(copy, chunk, parity);
    case 2:
      return copy_words<2>(copy, chunk, parity);
    default:
      return copy_words<1>(copy, chunk, parity);
  }
}

/// Publishes to every peer that is to put into this rank's memory: kernels before this one are past their
/// reads of it.
__device__ void give_credits(const PeerProgram& program, std::uint64_t epoch) {
  for (std::uint32_t i = threadIdx.x; i < program.peer_count; i += blockDim.x) {
    DevicePeer& peer = program.peers[i];
    if (peer.gives_credit) release_epoch(peer.remote->credit, epoch);
  }
}

__device__ void put_chunk(const PeerProgram& program, const Chunk& chunk, std::uint64_t epoch) {
  DevicePeer& peer = program.peers[chunk.peer];
  __shared__ bool free;
  if (threadIdx.x == 0) {
    // After a failure nothing may pass for a later epoch: a graph may go on to be replayed.
    free = program.state->failed == 0 &&
           (!peer.awaits_credit || wait_for(program, peer, peer.own->credit, epoch, Fault::credit_late));
  }
  __syncthreads();
  if (free) copy_chunk(program, chunk, static_cast<int>(epoch % 2));
  __syncthreads();
  // A block that has not put is not counted in, so that no other one publishes in its place.
  if (threadIdx.x != 0 || !free || !is_last_of(peer.blocks_done, peer.blocks)) return;
  peer.remote->operations[epoch % 2] = program.operation;
  // Publishes to the peer: the chunks of all blocks, counted in above, and the operation they belong to.
  release_epoch(peer.remote->arrived, epoch);
}

__device__ bool is_same_operation(const PeerProgram& program, const DevicePeer& peer, std::uint64_t epoch) {
  const Operation theirs = peer.own->operations[epoch % 2];
  if (theirs.fields == program.operation.fields && theirs.reverse == program.operation.reverse) return true;
  report_fault(program, peer, Fault::mismatch, epoch, epoch, theirs);
  return false;
}

__device__ void await_chunk(const PeerProgram& program, const Chunk& chunk, std::uint64_t epoch) {
  const DevicePeer& peer = program.peers[chunk.peer];
  __shared__ bool landed;
  if (threadIdx.x == 0) {
    landed = program.state->failed == 0 &&
             wait_for(program, peer, peer.own->arrived, epoch, Fault::arrival_late) &&
             is_same_operation(program, peer, epoch);
  }
  __syncthreads();
  if (landed) copy_chunk(program, chunk, static_cast<int>(epoch % 2));
}

/// At least one: it gives the credits.
__host__ __device__ std::uint32_t put_blocks(const PeerProgram& put) {
  return put.chunk_count > 0 ? put.chunk_count : 1;
}

__device__ void put_block(const PeerProgram& program, std::uint64_t epoch) {
  if (blockIdx.x == 0) give_credits(program, epoch);
  // Where nothing is put, nothing else keeps the last thread from passing the epoch on before all threads have read it.
  if (program.chunk_count == 0) __syncthreads();
  if (blockIdx.x < program.chunk_count) put_chunk(program, program.chunks[blockIdx.x], epoch);
}

/// The last block of a launch that puts passes the epoch on to the next launch.
__device__ void end_put(const PeerProgram& program, std::uint64_t epoch) {
  if (threadIdx.x == 0 && is_last_of(program.state->blocks_done, gridDim.x)) program.state->epoch = epoch;
}

__global__ void __launch_bounds__(threads_per_block) put_kernel(PeerProgram program) {
  const std::uint64_t epoch = program.state->epoch + 1;
  put_block(program, epoch);
  end_put(program, epoch);
}

__global__ void __launch_bounds__(threads_per_block) wait_kernel(PeerProgram program) {
  await_chunk(program, program.chunks[blockIdx.x], program.state->epoch);
}

/// The blocks that put come first, so that they are running when those that wait take their places.
__global__ void __launch_bounds__(threads_per_block) exchange_kernel(PeerProgram put, PeerProgram wait) {
  const std::uint64_t epoch = put.state->epoch + 1;
  const std::uint32_t puts = put_blocks(put);
  if (blockIdx.x < puts) {
    put_block(put, epoch);
  } else {
    await_chunk(wait, wait.chunks[blockIdx.x - puts], epoch);
  }
  end_put(put, epoch);
}

}  // namespace

std::uint32_t most_exchange_blocks() {
  int device = 0;
  int processors = 0;
  int per_processor = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
             "cudaDeviceGetAttribute");
  check_cuda(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, exchange_kernel, threads_per_block, 0),
      "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return static_cast<std::uint32_t>(processors * per_processor);
}

std::uint32_t exchange_blocks(const PeerProgram& put, const PeerProgram& wait) {
  return put_blocks(put) + wait.chunk_count;
}

void launch_put(const PeerProgram& program, cudaStream_t stream) {
  put_kernel<<<put_blocks(program), threads_per_block, 0, stream>>>(program);
  check_cuda(cudaGetLastError(), "launching comm::put");
}

void launch_wait(const PeerProgram& program, cudaStream_t stream) {
  if (program.chunk_count == 0) return;
  wait_kernel<<<program.chunk_count, threads_per_block, 0, stream>>>(program);
  check_cuda(cudaGetLastError(), "launching comm::wait");
}

void launch_exchange(const PeerProgram& put, const PeerProgram& wait, cudaStream_t stream) {
  exchange_kernel<<<exchange_blocks(put, wait), threads_per_block, 0, stream>>>(put, wait);
  check_cuda(cudaGetLastError(), "launching comm::exchange");
}

}  // namespace selvage::detail
