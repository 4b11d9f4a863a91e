#include "halo_messages.hpp"

#include "layouts/packing.hpp"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace selvage::detail {
namespace {

/// \param owners  of each field: the layout of the rank's View that owns the cells
PackedBlock pack_side(const MessageParts& messages, const TransportParts& parts, const Packing& packing,
                      std::span<const Layout> owners) {
  PackedBlock block;
  for (std::size_t f = 0; f < parts.fields.size(); ++f)
    block.begins.push_back(packing.field_begin(f) + packing.field_bytes(f));
  block.allocate(messages);
  for (std::size_t f = 0; f < parts.fields.size(); ++f) {
    const Field& field = parts.fields[f];
    block.pack.push_back(make_box_copy(pack_boxes(packing, f, field, block.packed.data, owners[f])));
    block.unpack.push_back(make_box_copy(unpack_boxes(packing, f, field, block.packed.data, owners[f])));
  }
  return block;
}

PackedPeer pack_peer(const MessageParts& messages, const TransportParts& parts, const PeerPlan& plan) {
  const Neighbour& neighbour = plan.neighbour;
  std::vector<Layout> here, there;
  for (std::size_t f = 0; f < parts.fields.size(); ++f) {
    here.push_back(layout_of(parts.fields[f]));
    there.push_back(layout_of(plan.cards[f]));
  }
  const Packing owned(neighbour, parts.fields, parts.axes, BoundarySide::owned);
  const Packing ghost(neighbour, parts.fields, parts.axes, BoundarySide::ghost);
  PackedPeer peer{.rank = neighbour.rank,
                  .owned = pack_side(messages, parts, owned, here),
                  .ghost = pack_side(messages, parts, ghost, there),
                  .contributions = {}};
  for (std::size_t f = 0; f < parts.fields.size(); ++f) {
    peer.contributions.push_back(contributions_of(owned, f, parts.fields[f], peer.owned.packed.data));
  }
  return peer;
}

}  // namespace

std::unique_ptr<Link> make_halo_messages(const TransportParts& parts, Wire carrier) {
  const MessageParts messages{.context = parts.context,
                              .executor = parts.executor,
                              .carrier = carrier,
                              .initiation = parts.initiation,
                              .fields = parts.fields.size(),
                              .reverses = true,
                              .first_tag = parts.first_tag};
  std::vector<PackedPeer> peers;
  for (const PeerPlan& plan : parts.peers) peers.push_back(pack_peer(messages, parts, plan));
  return make_messages(messages, std::move(peers));
}

}  // namespace selvage::detail
