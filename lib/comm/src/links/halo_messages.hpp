#pragma once

#include "messages.hpp"
#include "transport.hpp"

#include <memory>

namespace selvage::detail {

/// A link that sends halos as messages: one packed block per neighbour and direction.
[[nodiscard]] std::unique_ptr<Link> make_halo_messages(const TransportParts& parts, Wire carrier);

}  // namespace selvage::detail
