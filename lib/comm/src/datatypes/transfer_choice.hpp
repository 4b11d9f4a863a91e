#pragma once

#include "links/path_selector.hpp"

#include <selvage/comm/typed_transfer.hpp>

namespace selvage::detail {

/// Chooses how a typed transfer with one partner travels: see select_path. On hosts a ring comes first where elements lie scattered;
/// between GPUs that can neither map memory nor give it to MPI a ring carries what is large.
/// \param on_host  whether the plan's copies run on the host
/// \throws Error{unsupported} as select_path does
[[nodiscard]] Path choose_transfer_path(const PairFacts& facts, const TypedTransfer::Options& options,
                                        bool on_host);

}  // namespace selvage::detail
