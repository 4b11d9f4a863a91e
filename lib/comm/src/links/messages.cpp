#include "messages.hpp"

#include "mpi_messages.hpp"
#include "proxy_messages.hpp"

#include <utility>

namespace selvage::detail {

std::unique_ptr<Link> make_messages(const MessageParts& parts, std::vector<PackedPeer> peers) {
  if (parts.carrier == Wire::mapped || is_started_by_proxy(parts.initiation))
    return std::make_unique<ProxyMessages>(parts, std::move(peers));
  return std::make_unique<MpiMessages>(parts, std::move(peers));
}

}  // namespace selvage::detail
