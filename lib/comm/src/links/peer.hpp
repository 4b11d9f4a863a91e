#pragma once

#include "path_selector.hpp"
#include "transport.hpp"

namespace selvage::detail {

/// Zero copy between ranks of one host (Chu et al., zero-copy datatypes; Selvage mechanism C3): the sender's
/// one copy reads its own cells and writes the neighbour's ghosts in the neighbour's layout, then releases a
/// flag there. Sparse regions go through a landing block in the neighbour's memory instead (their one-shot
/// packing, C4), which the neighbour unpacks; density decides (C5), see peer_routes.hpp.
///
/// Why ghosts that are still read can't be overwritten: the sender waits until the receiver has released a credit for this epoch. With
/// GhostReuse::alternating and traffic in both directions no credit is needed, since the neighbour's last put shows that it has
/// read them. There are two landing blocks, for even and odd epochs; with traffic in both directions they need no credit either.
[[nodiscard]] std::unique_ptr<Link> make_peer_transport(TransportParts parts);
[[nodiscard]] std::string refuse_peer(const PairFacts& facts);

[[nodiscard]] std::string refuse_peer_initiation(Initiation initiation, const PairFacts& facts, bool on_host);

}  // namespace selvage::detail
