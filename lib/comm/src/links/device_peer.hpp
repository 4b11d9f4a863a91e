#pragma once

#include "transport.hpp"

#include <memory>

namespace selvage::detail {

/// The peer transport for Views in GPU memory: one kernel puts to all neighbours and releases their flags,
/// one small kernel waits and unpacks; both on the caller's instance.
/// \throws Error{unsupported} without a GPU backend
[[nodiscard]] std::unique_ptr<Link> make_device_peer_transport(TransportParts parts);

}  // namespace selvage::detail
