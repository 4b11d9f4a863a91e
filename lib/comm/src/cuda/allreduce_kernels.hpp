#pragma once

#include "../device_allreduce.hpp"

#include <selvage/comm/allreduce_options.hpp>
#include <selvage/comm/detail/port_table.hpp>
#include <selvage/comm/detail/signal.hpp>
#include <selvage/comm/element_types.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace selvage::detail {

inline constexpr int most_allreduce_blocks = 128;
inline constexpr int most_allreduce_threads = 512;

/// What the kernels of one Allreduce keep in device memory from launch to launch. The epochs live here, so that a
/// captured graph can be replayed; each block counts its own.
struct AllreduceState {
  std::uint64_t epochs[most_allreduce_blocks];
  std::uint32_t
      failed;  ///< once set, kernels don't wait, and those that store into peers' elements no longer do
};

/// What the kernels of one Allreduce work on; arrays by rank.
struct AllreduceProgram {
  int rank;
  int ranks;
  ElementType type;
  ReduceOperation operation;
  std::int64_t count;
  /// Kernels that meet through scratch know this rank's only.
  std::byte* elements[most_allreduce_ranks];
  bool is_aligned;  ///< the elements that a kernel knows, to 16 bytes
  /// What ranks store for each other; each kernel says how it lies.
  std::byte* scratch[most_allreduce_ranks];
  /// Packets or lines that a rank stores for another: of all elements, or of a part of them.
  std::int64_t lines;
  /// Flags in each rank's memory, [block][writer]; their writer and what they publish stand where they are released.
  Flag* arrived[most_allreduce_ranks];
  Flag* done[most_allreduce_ranks];
  AllreduceState* state;
  Fault* fault;
  std::uint64_t timeout_ns;
  int blocks;
  int threads;
  bool is_chained;  ///< this GPU can start a kernel while the one before it ends
};

/// One algorithm's kernels, for all types and operations.
struct AllreduceKernel {
  /// Loads the kernel that a program needs, which no capture may have to do.
  void (*load)(const AllreduceProgram& program);
  void (*launch)(const AllreduceProgram& program, cudaStream_t stream);
};

/// Each rank stores its elements into all ranks' scratch, and combines what all have stored.
[[nodiscard]] AllreduceKernel one_shot_ll_kernel();
[[nodiscard]] AllreduceKernel one_shot_ll128_kernel();
/// Each rank stores every rank's part of its elements into that rank's scratch, combines its own part, and stores the
/// result into all ranks' scratch.
[[nodiscard]] AllreduceKernel two_shot_ll128_kernel();
/// Each rank loads its part of all ranks' elements, and stores what it combines into all ranks'.
[[nodiscard]] AllreduceKernel two_shot_kernel();
/// Each rank stores every rank's part of its elements into that rank's scratch, chunk by chunk, and what it combines into
/// all ranks' elements.
[[nodiscard]] AllreduceKernel two_shot_push_kernel();

/// Of the scratch that a rank needs for its peers' packets and lines.
inline constexpr std::int64_t ll_packet_bytes = 16;
inline constexpr std::int64_t ll_packet_words = 1;
inline constexpr std::int64_t ll128_line_bytes = 128;
inline constexpr std::int64_t ll128_line_words = 15;
inline constexpr std::int64_t element_word_bytes = 8;

/// Of the scratch that a block of two_shot_push needs for each rank.
inline constexpr int push_slots = 4;
inline constexpr std::int64_t push_chunk_bytes = 4 * most_allreduce_threads * 16;

}  // namespace selvage::detail
