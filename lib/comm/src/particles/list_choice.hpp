#pragma once

#include "links/path_selector.hpp"

namespace selvage::detail {

/// select_path among peer, mpi_direct and mpi_staged. \throws what select_path throws
[[nodiscard]] Path choose_list_path(const PairFacts& facts, const Forced<Transport>& transport,
                                    const Forced<Initiation>& initiation, bool on_host);

}  // namespace selvage::detail
