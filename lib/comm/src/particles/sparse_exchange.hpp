#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace selvage::detail {

class ContextState;

/// A number that is sent to a rank, or was received from it.
struct SparseNumber {
  int rank = 0;
  std::int64_t value = 0;
};

inline constexpr int tags_per_sparse_exchange = 2;

/// Sends numbers to a few ranks each; receivers don't know beforehand who sends to them (Hoefler, Siebert and Lumsdaine, "Scalable
/// communication protocols for dynamic sparse data exchange", PPoPP 2010, algorithm NBX): synchronous sends, and a
/// barrier that a rank enters when all of its own have been received. No rank handles more than its own numbers.
///
/// Collective. Successive exchanges of one object alternate between its tags: a rank that has left the barrier may send
/// for the next exchange while another has still to see that the barrier is over, but no rank is two exchanges ahead.
/// \param first_tag  of tags_per_sparse_exchange
/// \param round      counts the exchanges over these tags
/// \param purpose    completes "waited N ms for rank 3 ..."
/// \return the received numbers, by rank
/// \throws Error{timeout}, Error{mpi}
[[nodiscard]] std::vector<SparseNumber> sparse_exchange(ContextState& context, int first_tag,
                                                        std::uint64_t round,
                                                        std::span<const SparseNumber> numbers,
                                                        std::string_view purpose);

}  // namespace selvage::detail
