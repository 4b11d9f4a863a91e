#pragma once

#include "transport.hpp"

#include <vector>

namespace selvage::detail {

/// Where what carries a packed block finds it.
enum class Wire {
  packed,  ///< where the execution space works
  staged,  ///< in host memory beside it; on hosts, as `packed`
  mapped,  ///< where the execution space works, in memory that peers map
};

/// One side of a neighbour's traffic as messages carry it: packed where the execution space works, and where
/// the carrier works.
struct PackedBlock {
  Packing packing;
  Buffer packed;
  Buffer wire;                               ///< `packed` itself unless staged
  std::vector<std::vector<CopyBox>> pack;    ///< by field
  std::vector<std::vector<CopyBox>> unpack;  ///< by field

  PackedBlock(const TransportParts& parts, const PeerPlan& plan, LinkSide side, Wire carrier);

  /// Of `packed`: never 0, so that it can be named.
  [[nodiscard]] std::size_t capacity_bytes() const;
};

/// A neighbour's traffic both ways.
struct PackedPeer {
  int rank;
  PackedBlock owned;
  PackedBlock ghost;
  std::vector<std::vector<Contribution>> contributions;

  PackedPeer(const TransportParts& parts, const PeerPlan& plan, Wire carrier);

  [[nodiscard]] const PackedBlock& outgoing(bool reverse) const { return reverse ? ghost : owned; }
  [[nodiscard]] const PackedBlock& incoming(bool reverse) const { return reverse ? owned : ghost; }
};

}  // namespace selvage::detail
