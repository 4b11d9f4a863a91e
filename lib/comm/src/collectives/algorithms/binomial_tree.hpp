#pragma once

#include "allreduce_algorithm.hpp"

#include <memory>

namespace selvage::detail {

/// A binomial tree: with each level ranks at twice the distance meet, and one of each two hands what it has combined to
/// the other; the result comes back the same way (Faraji, thesis 3.2.2, Binomial Tree Based). Through memory that a host's
/// ranks share, with slots in that of each receiver; between hosts by messages. On hosts only.
///
/// Two slots per rank instead of one with the level in it, so that the next level can't overwrite what is still read; any
/// number of ranks.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_binomial_tree(const AllreduceParts& parts);

}  // namespace selvage::detail
