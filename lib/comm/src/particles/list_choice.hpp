#pragma once

#include "links/path_selector.hpp"

#include <selvage/comm/list_options.hpp>

namespace selvage::detail {

/// What was asked for, and where.
struct ListRequest {
  Forced<Transport> transport;
  Forced<Initiation> initiation;
};
/// The options, completed from SELVAGE_TRANSPORT and SELVAGE_INITIATION. \throws Error{input}
[[nodiscard]] ListRequest read_request(const ListOptions& options);

/// The first transport of peer, mpi_direct and mpi_staged that is possible, or the forced one.
/// \throws Error{unsupported} when something forced isn't possible, and why
[[nodiscard]] Path choose_list_path(const PairFacts& facts, const ListRequest& request, bool on_host);

}  // namespace selvage::detail
