#pragma once

#include "transport.hpp"

namespace selvage::detail {

/// A periodic axis with one rank: the neighbour is this rank itself, and its ghosts are filled by one copy.
[[nodiscard]] std::unique_ptr<Link> make_local_transport(TransportParts parts);

}  // namespace selvage::detail
