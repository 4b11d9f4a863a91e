#pragma once

#include "path_selector.hpp"
#include "transport.hpp"

namespace selvage::detail {

/// Between GPUs of one host: 2D and 3D copies by the copy engines, enqueued on the caller's instance, onto the
/// neighbour's mapped memory; then a kernel of one block releases the flags. Runs of less than
/// direct_run_bytes_of_copy_engine are packed by a kernel first, and unpacked by the neighbour.
///
/// Why ghosts that are still read can't be overwritten: the receiver has released a credit for this epoch,
/// always. Landing blocks therefore come once, whatever the parity of the epoch: a copy in a captured graph
/// can't alternate. A copy that is enqueued can't be called off: when a wait for a credit runs out, the copies
/// still happen, but no flag is released, neither for this epoch nor for later ones. All credits come before
/// all copies, so that a rank beside a late one is late itself.
///
/// \throws Error{unsupported} without a GPU backend
[[nodiscard]] std::unique_ptr<Link> make_copy_engine_transport(TransportParts parts);
[[nodiscard]] std::string refuse_copy_engine(const PairFacts& facts);
[[nodiscard]] std::string refuse_copy_engine_initiation(Initiation initiation, const PairFacts& facts,
                                                        bool on_host);

/// An engine handles a row of a 2D copy at a time, so that short rows cost more than a pass of packing.
inline constexpr std::int64_t direct_run_bytes_of_copy_engine = 128;

}  // namespace selvage::detail
