#pragma once

#include "transfer_parts.hpp"

#include <memory>

namespace selvage::detail {

/// The peer path for Views in GPU memory: one kernel gives credits, copies to all partners and releases their
/// flags; one small kernel waits. Both on the caller's instance.
/// \throws Error{unsupported} without a GPU backend
[[nodiscard]] std::unique_ptr<Link> make_device_peer_transfer(const TransferParts& parts);

}  // namespace selvage::detail
