#include "run_kernels.hpp"

#include "check.hpp"
#include "device_wait.hpp"

namespace selvage::detail {
namespace {

template <int Bytes>
struct alignas(Bytes) RunWord {
  unsigned char bytes[Bytes];
};

template <int WordBytes>
__device__ void copy_word(const std::byte* from, std::byte* to) {
  using Unit = RunWord<WordBytes>;
  *reinterpret_cast<Unit*>(to) = *reinterpret_cast<const Unit*>(from);
}

/// The run that holds an item: the last one that begins at or before it.
__device__ const DeviceRun& run_of(const DeviceRun* runs, std::uint32_t count, std::uint64_t item) {
  std::uint32_t first = 0;
  while (count > 1) {
    const std::uint32_t half = count / 2;
    if (runs[first + half].begin <= item) first += half;
    count -= half;
  }
  return runs[first];
}

__device__ void copy_short(const DeviceRun& run, std::uint64_t item) {
  const auto index = static_cast<std::uint32_t>(item - run.begin);
  const std::uint32_t block = index / run.block_words;
  const std::int64_t word = static_cast<std::int64_t>(index % run.block_words) * run.word_bytes;
  const std::byte* from = run.source + block * run.source_stride + word;
  std::byte* to = run.target + block * run.target_stride + word;
  switch (run.word_bytes) {
    case 16:
      return copy_word<16>(from, to);
    case 8:
      return copy_word<8>(from, to);
    case 4:
      return copy_word<4>(from, to);
    case 2:
      return copy_word<2>(from, to);
    default:
      return copy_word<1>(from, to);
  }
}

template <int WordBytes>
__device__ void copy_block(const std::byte* from, std::byte* to, std::uint32_t words, std::uint32_t lane) {
#pragma unroll 4
  for (std::uint32_t word = lane; word < words; word += 32)
    copy_word<WordBytes>(from + static_cast<std::int64_t>(word) * WordBytes,
                         to + static_cast<std::int64_t>(word) * WordBytes);
}

__device__ void copy_long(const DeviceRun& run, std::uint64_t item, std::uint32_t lane) {
  const auto block = static_cast<std::int64_t>(item - run.begin);
  const std::byte* from = run.source + block * run.source_stride;
  std::byte* to = run.target + block * run.target_stride;
  switch (run.word_bytes) {
    case 16:
      return copy_block<16>(from, to, run.block_words, lane);
    case 8:
      return copy_block<8>(from, to, run.block_words, lane);
    case 4:
      return copy_block<4>(from, to, run.block_words, lane);
    case 2:
      return copy_block<2>(from, to, run.block_words, lane);
    default:
      return copy_block<1>(from, to, run.block_words, lane);
  }
}

__device__ void copy_chunk_of_runs(const RunProgram& program, const RunChunk& chunk) {
  const DeviceRun* runs = program.runs + chunk.first_run;
  if (chunk.by_warp) {
    for (std::uint32_t i = threadIdx.x / 32; i < chunk.items; i += run_warps_per_block)
      copy_long(run_of(runs, chunk.runs, chunk.first_item + i), chunk.first_item + i, threadIdx.x % 32);
  } else {
    for (std::uint32_t i = threadIdx.x; i < chunk.items; i += run_threads_per_block)
      copy_short(run_of(runs, chunk.runs, chunk.first_item + i), chunk.first_item + i);
  }
}

__global__ void __launch_bounds__(run_threads_per_block) copy_runs_kernel(RunProgram program) {
  copy_chunk_of_runs(program, program.chunks[blockIdx.x]);
}

__device__ void put_chunk_of_runs(const RunProgram& program, const RunChunk& chunk, std::uint64_t epoch) {
  DevicePeer& peer = program.signals.peers[chunk.peer];
  __shared__ bool free;
  if (threadIdx.x == 0) {
    // Acquires that the partner no longer reads what this put overwrites. After a failure nothing may pass for
    // a later epoch: a graph may go on to be replayed.
    free = program.signals.state->failed == 0 &&
           wait_for(program.signals, peer, peer.own->credit, epoch, Fault::credit_late);
  }
  __syncthreads();
  if (free) copy_chunk_of_runs(program, chunk);
  __syncthreads();
  // A block that has not put is not counted in, so that no other one publishes in its place.
  if (threadIdx.x != 0 || !free || !is_last_of(peer.blocks_done, peer.blocks)) return;
  peer.remote->operations[epoch % 2] = program.signals.operation;
  // Publishes to the partner: the chunks of all blocks, counted in above.
  release_epoch(peer.remote->arrived, epoch);
}

__global__ void __launch_bounds__(run_threads_per_block) put_runs_kernel(RunProgram program) {
  const PeerProgram& signals = program.signals;
  const std::uint64_t epoch = signals.state->epoch + 1;
  if (blockIdx.x == 0) {
    for (std::uint32_t i = threadIdx.x; i < signals.peer_count; i += blockDim.x) {
      // Publishes to a partner that will put: kernels before this one are past their reads.
      if (signals.peers[i].gives_credit) release_epoch(signals.peers[i].remote->credit, epoch);
    }
  }
  if (blockIdx.x < program.chunk_count) put_chunk_of_runs(program, program.chunks[blockIdx.x], epoch);
  if (threadIdx.x == 0 && is_last_of(signals.state->blocks_done, gridDim.x)) signals.state->epoch = epoch;
}

}  // namespace

void launch_copy_runs(const RunProgram& program, cudaStream_t stream) {
  if (program.chunk_count == 0) return;
  copy_runs_kernel<<<program.chunk_count, run_threads_per_block, 0, stream>>>(program);
  check_cuda(cudaGetLastError(), "launching comm::copy_runs");
}

void launch_put_runs(const RunProgram& program, cudaStream_t stream) {
  const unsigned blocks = program.chunk_count > 0 ? program.chunk_count : 1;
  put_runs_kernel<<<blocks, run_threads_per_block, 0, stream>>>(program);
  check_cuda(cudaGetLastError(), "launching comm::put_runs");
}

}  // namespace selvage::detail
