#pragma once

#include "path_selector.hpp"
#include "transport.hpp"

#include <memory>
#include <span>

namespace selvage::detail {

/// All transports of halos that are built in, the most preferred first.
[[nodiscard]] std::span<const LinkCandidate> halo_transports();

/// \param transport  one of halo_transports()
[[nodiscard]] std::unique_ptr<Link> make_halo_link(Transport transport, TransportParts parts);

}  // namespace selvage::detail
