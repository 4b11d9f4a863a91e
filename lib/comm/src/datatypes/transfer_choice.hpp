#pragma once

#include "links/path_selector.hpp"

#include <selvage/comm/typed_transfer.hpp>

namespace selvage::detail {

/// How a typed transfer with one partner travels: by the forced transport and initiation, else by the first transport that is
/// possible, on hosts a ring first for scattered elements.
/// \param on_host  whether the plan's copies run on the host
/// \throws Error{unsupported} with the reason for each transport considered
[[nodiscard]] Path choose_transfer_path(const PairFacts& facts, const TransferOptions& options, bool on_host);

}  // namespace selvage::detail
