#pragma once

#include "peer_kernels.hpp"

namespace selvage::detail {

/// The first failure of a plan's kernels goes to the host; later ones follow from it.
__device__ inline void report_fault(const PeerProgram& program, const DevicePeer& peer, Fault::Kind kind,
                                    std::uint64_t wanted, std::uint64_t seen, const Operation& theirs) {
  if (atomicExch(&program.state->failed, 1) != 0) return;
  program.fault->rank = peer.rank;
  program.fault->wanted = wanted;
  program.fault->seen = seen;
  program.fault->theirs = theirs;
  program.fault->mine = program.operation;
  // Publishes to the host: the description above.
  release_word(program.fault->kind, kind);
}

/// Polls a flag in this GPU's memory; false when the time is up or another wait of the plan has failed.
[[nodiscard]] __device__ inline bool wait_for(const PeerProgram& program, const DevicePeer& peer,
                                              const Flag& flag, std::uint64_t wanted, Fault::Kind if_late) {
  const std::uint64_t start = clock_ns();
  while (true) {
    for (int poll = 0; poll < 64; ++poll) {
      // Acquires what the peer released: its stores to this rank's memory, or that it is past its reads.
      if (has_reached(acquire_epoch(flag), wanted)) return true;
    }
    if (load_relaxed(program.state->failed) != 0) return false;
    if (clock_ns() - start > program.timeout_ns) {
      report_fault(program, peer, if_late, wanted, acquire_epoch(flag), {});
      return false;
    }
  }
}

}  // namespace selvage::detail
