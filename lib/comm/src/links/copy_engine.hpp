#pragma once

#include "path_selector.hpp"
#include "transport.hpp"

namespace selvage::detail {

/// Between GPUs of one host: 2D and 3D copies by the copy engines, enqueued on the caller's instance, onto the
/// neighbour's mapped memory; then a kernel of one block releases the flags. Runs of less than
/// direct_run_bytes_of_copy_engine are packed by a kernel first, and unpacked by the neighbour.
///
/// Why ghosts that are still read can't be overwritten: every copy waits for a credit, which the receiver releases for each
/// epoch. One landing block per neighbour is therefore enough; two that alternate would be of no use, since a copy in a
/// captured graph always has the same target. An enqueued copy can't be cancelled: when the wait for a credit times out, the copies
/// still happen, but no flag is released, neither for this epoch nor for later ones. The stream waits for the credits of all
/// neighbours before it copies to any, so a rank beside a late one is late itself.
///
/// \throws Error{unsupported} without a GPU backend
[[nodiscard]] std::unique_ptr<Link> make_copy_engine_transport(TransportParts parts);
[[nodiscard]] std::string refuse_copy_engine(const PairFacts& facts);
[[nodiscard]] std::string refuse_copy_engine_initiation(Initiation initiation, const PairFacts& facts,
                                                        bool on_host);

/// A copy engine handles one row of a 2D copy at a time. With rows shorter than this, packing first is faster.
inline constexpr std::int64_t direct_run_bytes_of_copy_engine = 128;

}  // namespace selvage::detail
