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

inline constexpr int most_allreduce_blocks = 64;

/// What the kernels of one Allreduce keep in device memory from launch to launch. The epochs live here, so that a
/// captured graph can be replayed; each block counts its own.
struct AllreduceState {
  std::uint64_t epochs[most_allreduce_blocks];
  std::uint32_t failed;  ///< once set, kernels neither wait nor store
};

/// 8 bytes of elements, and the epoch they belong to twice: a reader that sees both sees the elements too, since the
/// hardware writes and reads 8 aligned bytes at once.
struct alignas(16) FlaggedPacket {
  std::uint32_t low;
  std::uint32_t low_epoch;
  std::uint32_t high;
  std::uint32_t high_epoch;
};

/// What the kernels of one Allreduce work on; by rank.
struct AllreduceProgram {
  int rank;
  int ranks;
  ElementType type;
  ReduceOperation operation;
  std::int64_t count;
  std::byte* elements[most_allreduce_ranks];  ///< one_shot: only this rank's
  /// one_shot: packets of this rank's elements, by parity of the epoch and then by the rank that wrote them.
  FlaggedPacket* packets[most_allreduce_ranks];
  std::int64_t packet_count;
  /// two_shot: flags that a rank's blocks write into each rank's memory, [block][writer].
  Flag* ready[most_allreduce_ranks];
  Flag* done[most_allreduce_ranks];
  AllreduceState* state;
  Fault* fault;
  std::uint64_t timeout_ns;
  int blocks;
  int threads;
};

/// Loads the kernel that a program needs, which no capture may have to do.
void load_one_shot(const AllreduceProgram& program);
void load_two_shot(const AllreduceProgram& program);
/// Each rank stores its elements into all ranks' memory, and combines what all have stored into its own.
void launch_one_shot(const AllreduceProgram& program, cudaStream_t stream);
/// Each rank loads its part of all ranks' elements, and stores what it combines into all ranks'.
void launch_two_shot(const AllreduceProgram& program, cudaStream_t stream);

}  // namespace selvage::detail
