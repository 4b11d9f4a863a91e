#include "packed_block.hpp"

namespace selvage::detail {

PackedBlock::PackedBlock(const TransportParts& parts, const PeerPlan& plan, Half half, bool staged)
    : packing(plan.neighbour, parts.fields, parts.axes, half),
      packed(parts.executor.allocate(packing.bytes())) {
  wire = staged ? parts.executor.allocate_staging(packing.bytes()) : packed;
  for (std::size_t f = 0; f < parts.fields.size(); ++f) {
    pack.push_back(pack_boxes(packing, f, parts.fields[f], packed.data));
    unpack.push_back(unpack_boxes(packing, f, parts.fields[f], packed.data));
  }
}

PackedPeer::PackedPeer(const TransportParts& parts, const PeerPlan& plan, bool staged)
    : rank(plan.neighbour.rank),
      owned(parts, plan, Half::owned, staged),
      ghost(parts, plan, Half::ghost, staged) {
  for (std::size_t f = 0; f < parts.fields.size(); ++f) {
    contributions.push_back(contributions_of(owned.packing, f, parts.fields[f], owned.packed.data));
  }
}

}  // namespace selvage::detail
