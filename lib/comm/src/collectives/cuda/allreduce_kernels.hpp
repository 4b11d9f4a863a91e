#pragma once

#include "collectives/algorithms/device_allreduce.hpp"

#include <selvage/comm/allreduce_options.hpp>
#include <selvage/comm/detail/port_table.hpp>
#include <selvage/comm/detail/signal.hpp>
#include <selvage/comm/elements.hpp>

#include <Kokkos_Macros.hpp>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace selvage::detail {

inline constexpr int most_allreduce_blocks = 160;
inline constexpr int most_allreduce_threads = 512;
/// Of two_shot_ll128, whose lines one pass of all blocks should cover. Shares of more ranks need more registers.
[[nodiscard]] constexpr int most_line_threads(int ranks) {
  return ranks > 4 ? most_allreduce_threads : 576;
}

/// What the kernels of one Allreduce keep in device memory from launch to launch. The epochs live here, so that a
/// captured graph can be replayed; each block counts its own.
struct AllreduceState {
  std::uint64_t epochs[most_allreduce_blocks];
  std::uint64_t closed;    ///< of tiles: blocks of this launch that have ended
  std::uint64_t finished;  ///< of tiles: the last launch that has ended, which kernels that publish read
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
  /// Whose elements this rank stores results into: a bit per rank. Kernels for all kinds of collectives heed it.
  std::uint32_t receivers;
  int source;  ///< of what is gathered
  /// Of levels: accumulators of this rank's part, in this GPU's memory; and all ranks, of which these are a group.
  std::byte* partial;
  bool continues;  ///< the accumulators hold what ranks before this group's have combined
  bool meets;  ///< kernels wait for those of the group; else the host knows that what they wait for is there
  int all_ranks;
  bool is_aligned;  ///< the elements that a kernel knows, to 16 bytes
  /// What ranks store for each other; each kernel says how it lies.
  std::byte* scratch[most_allreduce_ranks];
  /// Packets or lines that a rank stores for another: of all elements, or of a part of them.
  std::int64_t lines;
  /// Flags in each rank's memory, [block][writer]; their writer and what they publish stand where they are released.
  Flag* arrived[most_allreduce_ranks];
  Flag* done[most_allreduce_ranks];
  /// Of tiles: flags in this rank's memory, [own tile][rank]; see TileParts.
  Flag* published;
  std::int64_t tile_elements;
  AllreduceState* state;
  Fault* fault;
  std::uint64_t timeout_ns;
  int blocks;
  int threads;
  bool is_chained;  ///< kernels_can_chain()
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
/// Ranks at growing distances store what they have combined into each other's scratch.
[[nodiscard]] AllreduceKernel recursive_doubling_ll_kernel();
/// Each rank stores every rank's part of its elements into that rank's scratch, combines its own part, and stores the
/// result into all ranks' scratch.
[[nodiscard]] AllreduceKernel two_shot_ll128_kernel();
/// Each rank loads its part of all ranks' elements, and stores what it combines into all ranks'.
[[nodiscard]] AllreduceKernel two_shot_kernel();
/// Each rank stores every rank's part of its elements into that rank's scratch, chunk by chunk, and what it combines into
/// all ranks' elements.
/// \param packs_at_once  of a chunk for each thread, as push_packs() says
[[nodiscard]] AllreduceKernel two_shot_push_kernel(int packs_at_once);

/// Each rank loads its part of one rank's elements, and stores it into those of some.
[[nodiscard]] AllreduceKernel gather_kernel();
/// Returns when all ranks have come here: for what engines do between kernels.
[[nodiscard]] AllreduceKernel meet_kernel();
/// Whether this GPU runs kernels that wait by themselves for those before them, which they do where they were compiled for
/// one that can: code for an older one is translated for it without.
[[nodiscard]] bool kernels_can_chain();
/// Each rank combines its tiles, as soon as all ranks' kernels have published them, as two_shot does its part.
[[nodiscard]] AllreduceKernel tiles_kernel();
/// Two halves of two_shot, for what happens in between: each rank combines its part as accumulators; and gives the result
/// to all.
[[nodiscard]] AllreduceKernel combine_part_kernel();
[[nodiscard]] AllreduceKernel give_part_kernel();
/// Rings of all ranks, one per block, in both directions: partial results go round through scratch, and results through
/// elements. Mechanism A3 (LeBeane, dissertation ch. 5 and 6).
[[nodiscard]] AllreduceKernel multi_ring_kernel();

[[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_receiver(const AllreduceProgram& program, int rank) {
  return (program.receivers >> rank & 1U) != 0;
}

/// Of the scratch that a rank needs for its peers' packets and lines.
inline constexpr std::int64_t ll_packet_bytes = 16;
inline constexpr std::int64_t ll_packet_words = 1;
inline constexpr std::int64_t ll128_line_bytes = 128;
inline constexpr std::int64_t ll128_line_words = 15;
inline constexpr std::int64_t element_word_bytes = 8;

/// Of the scratch that a block of two_shot_push needs for each rank.
inline constexpr int push_slots = 4;
[[nodiscard]] KOKKOS_INLINE_FUNCTION constexpr std::int64_t push_chunk_bytes(int packs_at_once) {
  return std::int64_t{packs_at_once} * most_allreduce_threads * 16;
}
inline constexpr int push_blocks = 128;
inline constexpr int most_push_packs = 4;
inline constexpr int fewer_push_packs = 2;
/// Packs of a chunk for each thread: of more ranks' a thread can't hold as many, and a share of a single chunk leaves the
/// links idle while it is awaited.
/// \param share_packs  of a part, for a block
[[nodiscard]] constexpr int push_packs(int ranks, std::int64_t share_packs) {
  constexpr std::int64_t largest_chunk_packs = std::int64_t{most_push_packs} * most_allreduce_threads;
  return ranks > 4 || share_packs <= largest_chunk_packs ? fewer_push_packs : most_push_packs;
}
/// A rank's part, and a block's share of one, begin where a line of the second-level cache does: stores that straddle two
/// travel as two.
inline constexpr std::int64_t packs_per_cache_line = 8;

/// Of the scratch that a block of multi_ring needs for each step: 16-bit elements travel in twice their bytes.
inline constexpr std::int64_t ring_segment_packs = 8 * most_allreduce_threads;
inline constexpr std::int64_t ring_slot_bytes = ring_segment_packs * 16 * 2;

}  // namespace selvage::detail
