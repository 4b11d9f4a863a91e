#pragma once

#include "messages.hpp"
#include "transport.hpp"

#include <memory>

namespace selvage::detail {

/// Halos as messages, one packed block per neighbour and way.
[[nodiscard]] std::unique_ptr<Link> make_halo_messages(const TransportParts& parts, Wire carrier);

}  // namespace selvage::detail
