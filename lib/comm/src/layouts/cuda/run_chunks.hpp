#pragma once

#include "run_kernels.hpp"

namespace selvage::detail {

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
__device__ inline const DeviceRun& run_of(const DeviceRun* runs, std::uint32_t count, std::uint64_t item) {
  std::uint32_t first = 0;
  while (count > 1) {
    const std::uint32_t half = count / 2;
    if (runs[first + half].begin <= item) first += half;
    count -= half;
  }
  return runs[first];
}

__device__ inline void copy_short(const DeviceRun& run, std::uint64_t item) {
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

__device__ inline void copy_long(const DeviceRun& run, std::uint64_t item, std::uint32_t lane) {
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

/// Copies one chunk, by all threads of the block.
__device__ inline void copy_chunk_of_runs(const RunProgram& program, const RunChunk& chunk) {
  const DeviceRun* runs = program.runs + chunk.first_run;
  if (chunk.by_warp) {
    for (std::uint32_t i = threadIdx.x / 32; i < chunk.items; i += run_warps_per_block)
      copy_long(run_of(runs, chunk.runs, chunk.first_item + i), chunk.first_item + i, threadIdx.x % 32);
  } else {
    for (std::uint32_t i = threadIdx.x; i < chunk.items; i += run_threads_per_block)
      copy_short(run_of(runs, chunk.runs, chunk.first_item + i), chunk.first_item + i);
  }
}

}  // namespace selvage::detail
