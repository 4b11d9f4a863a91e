#pragma once

#include "link.hpp"
#include "packed_block.hpp"

#include <memory>
#include <vector>

namespace selvage::detail {

/// A link that sends packed blocks: by the proxy where the initiation or the carrier wants one, else by MPI from the host.
[[nodiscard]] std::unique_ptr<Link> make_messages(const MessageParts& parts, std::vector<PackedPeer> peers);

[[nodiscard]] inline bool is_started_by_proxy(Initiation initiation) {
  return initiation == Initiation::queue || initiation == Initiation::kernel;
}

}  // namespace selvage::detail
