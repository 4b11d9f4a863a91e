#pragma once

#include "peer_kernels.hpp"

#include <chrono>
#include <string_view>

namespace selvage::detail {

/// Throws what a plan's kernels have reported to the host, if anything.
/// \param transport  names it in the message
void throw_if_failed(PeerFault& fault, std::chrono::milliseconds timeout, std::string_view transport);

}  // namespace selvage::detail
