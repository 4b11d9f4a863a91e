#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace selvage::detail {

/// A CopyRun for kernels. `begin` numbers its items among those of all runs of its kind: words of short
/// blocks, whole blocks of long ones.
struct DeviceRun {
  const std::byte* source;
  std::byte* target;
  std::int64_t source_stride;
  std::int64_t target_stride;
  std::uint64_t begin;
  std::uint32_t block_words;
  std::uint32_t word_bytes;  ///< 1, 2, 4, 8 or 16, as addresses, strides and length are aligned
};

/// What one block of threads does: consecutive items of consecutive runs of one kind, to one partner. Without
/// runs it only counts itself in.
struct RunChunk {
  std::uint64_t first_item;
  std::uint32_t items;
  std::uint32_t first_run;
  std::uint32_t runs;
  std::uint32_t peer;
  bool by_warp;  ///< items are blocks, one per warp; else words, one per thread
};

/// All copies of a plan.
struct RunProgram {
  const RunChunk* chunks;
  const DeviceRun* runs;
  std::uint32_t chunk_count;
};

constexpr int run_threads_per_block = 512;
constexpr int run_warps_per_block = run_threads_per_block / 32;

/// Copies, in one kernel.
void launch_copy_runs(const RunProgram& program, cudaStream_t stream);

}  // namespace selvage::detail
