#pragma once

#include "links/mailbox.hpp"

#include <selvage/comm/detail/port_table.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace selvage::detail {

/// A CopyBox for kernels; addresses by parity of the epoch, since landing blocks alternate.
struct DeviceCopy {
  const std::byte* source[2];
  std::byte* target[2];
  std::uint32_t extents[4];
  std::int64_t source_strides[4];
  std::int64_t target_strides[4];
  int word_bytes;  ///< 1, 2, 4, 8 or 16
  int words;       ///< per element
};

/// What one block does: some elements of one copy, to or from one peer. Without elements it only waits.
struct Chunk {
  std::uint32_t copy;
  std::uint32_t first;
  std::uint32_t elements;
  std::uint32_t peer;
};

struct DevicePeer {
  Flags* remote;  ///< in the peer's memory; this rank writes them
  Flags* own;     ///< in this rank's memory; the peer writes them
  int rank;
  bool awaits_credit;
  bool gives_credit;
  std::uint64_t blocks;       ///< that put to this peer
  std::uint64_t blocks_done;  ///< of this launch
};

/// A Fault, and what two ranks that call one HaloExchange differently do.
struct PeerFault : Fault {
  Operation theirs;
  Operation mine;
};

/// What a plan's kernels keep in device memory from launch to launch. The epoch lives here, not in an
/// argument, so that a captured graph can be replayed.
struct DeviceState {
  std::uint64_t epoch = 0;  ///< of the last put; advanced by the put kernel's last block
  std::uint64_t blocks_done = 0;
  std::uint32_t failed = 0;  ///< once set, kernels neither wait nor copy
};

/// One operation (some fields, one direction) of a plan.
struct PeerProgram {
  const Chunk* chunks;
  const DeviceCopy* copies;
  DevicePeer* peers;
  std::uint32_t chunk_count;
  std::uint32_t peer_count;
  DeviceState* state;
  PeerFault* fault;
  Operation operation;
  std::uint64_t timeout_ns;
};

/// Gives credits, copies the chunks, and releases each peer's arrival flag when the last of its blocks is
/// done.
void launch_put(const PeerProgram& program, cudaStream_t stream);
/// Waits for each chunk's peer and copies the chunk from its landing block.
void launch_wait(const PeerProgram& program, cudaStream_t stream);
/// Both in one launch, which saves what lies between two. Only for as many blocks as are resident at once:
/// some of them wait for what the other ranks' blocks, launched likewise, put.
void launch_exchange(const PeerProgram& put, const PeerProgram& wait, cudaStream_t stream);
[[nodiscard]] std::uint32_t exchange_blocks(const PeerProgram& put, const PeerProgram& wait);
/// How many blocks of launch_exchange() are resident at once on the current device.
[[nodiscard]] std::uint32_t most_exchange_blocks();

}  // namespace selvage::detail
