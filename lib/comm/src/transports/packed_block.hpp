#pragma once

#include "transport.hpp"

#include <vector>

namespace selvage::detail {

/// One half of a neighbour's traffic as messages carry it: packed where the execution space works, and where
/// MPI works.
struct PackedBlock {
  Packing packing;
  Buffer packed;
  Buffer wire;                               ///< `packed` itself unless staged
  std::vector<std::vector<CopyBox>> pack;    ///< by field
  std::vector<std::vector<CopyBox>> unpack;  ///< by field

  PackedBlock(const TransportParts& parts, const PeerPlan& plan, Half half, bool staged);
};

/// A neighbour's traffic both ways.
struct PackedPeer {
  int rank;
  PackedBlock owned;
  PackedBlock ghost;
  std::vector<std::vector<Contribution>> contributions;

  PackedPeer(const TransportParts& parts, const PeerPlan& plan, bool staged);

  [[nodiscard]] const PackedBlock& outgoing(bool reverse) const { return reverse ? ghost : owned; }
  [[nodiscard]] const PackedBlock& incoming(bool reverse) const { return reverse ? owned : ghost; }
};

}  // namespace selvage::detail
