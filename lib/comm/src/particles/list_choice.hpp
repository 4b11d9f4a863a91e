#pragma once

#include "links/path_selector.hpp"

#include <selvage/comm/list_options.hpp>

namespace selvage::detail {

/// The forced transport and initiation, and what has forced them.
struct ListRequest {
  Forced<Transport> transport;
  Forced<Initiation> initiation;
};
/// The options, completed from SELVAGE_TRANSPORT and SELVAGE_INITIATION. \throws Error{input}
[[nodiscard]] ListRequest read_request(const ListOptions& options);

/// select_path among peer, mpi_direct and mpi_staged. \throws what select_path throws
[[nodiscard]] Path choose_list_path(const PairFacts& facts, const ListRequest& request, bool on_host);

}  // namespace selvage::detail
