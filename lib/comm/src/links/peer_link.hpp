#pragma once

#include "mailbox.hpp"
#include "peer_routes.hpp"
#include "transport.hpp"

#include <memory>
#include <vector>

namespace selvage::detail {

/// What a rank knows of one neighbour whose memory it maps: where each of the two writes, and which flags guard that. The peer
/// transport has one form for hosts and one for GPUs; both use this.
struct PeerLink {
  int rank = 0;
  bool owned_bytes = false;  ///< it keeps ghosts of this rank's cells
  bool ghost_bytes = false;  ///< this rank keeps ghosts of its cells
  bool alternating = false;
  Routes routes;
  std::vector<std::vector<CopyBox>> reverse_puts;  ///< by field: ghosts to the landing block at their owner
  std::vector<std::vector<Contribution>> contributions;  ///< by field: this rank's landing block to its cells
  Flags* remote_flags = nullptr;                         ///< the neighbour's, which this rank writes
  std::vector<std::shared_ptr<void>> mappings;

  [[nodiscard]] bool sends(bool reverse) const { return reverse ? ghost_bytes : owned_bytes; }
  [[nodiscard]] bool receives(bool reverse) const { return reverse ? owned_bytes : ghost_bytes; }
  /// Whether this rank's put waits for the peer's credit.
  [[nodiscard]] bool awaits_credit(bool reverse, bool guarded) const {
    return sends(reverse) && needs_credit(reverse, guarded, routes.puts_directly);
  }
  /// Whether the peer's put waits for this rank's credit. Equals awaits_credit() on the peer.
  [[nodiscard]] bool gives_credit(bool reverse, bool guarded) const {
    return receives(reverse) && needs_credit(reverse, guarded, routes.receives_directly);
  }

 private:
  /// With traffic in both directions a landing block for ghosts is free again after two epochs: the peer's next put shows that it
  /// has finished the epoch before, and so has unpacked the block of that parity. For the ghosts themselves see peer.hpp.
  [[nodiscard]] bool needs_credit(bool reverse, bool guarded, bool direct) const {
    if (reverse || !owned_bytes || !ghost_bytes) return true;
    return direct && (guarded || !alternating);
  }
};

/// How much each neighbour may put into this rank's mailbox.
[[nodiscard]] std::vector<LandingBytes> landing_bytes(const TransportParts& parts);

/// Swaps mailbox cards with all neighbours and maps what they name. Every neighbour does the same at the same
/// time.
[[nodiscard]] std::vector<PeerLink> connect(const TransportParts& parts, const Mailbox& mailbox,
                                            const RouteRules& rules);

/// What this rank says it is doing; see Flags::operations.
[[nodiscard]] inline Operation operation_of(std::uint64_t fields, bool reverse) {
  return {fields, reverse ? 1U : 0U};
}
/// The message for two ranks that do different things in one epoch.
[[nodiscard]] std::string describe_mismatch(int rank, std::uint64_t epoch, const Operation& theirs,
                                            const Operation& mine);

}  // namespace selvage::detail
