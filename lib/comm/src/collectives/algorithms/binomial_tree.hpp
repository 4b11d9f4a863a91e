#pragma once

#include "allreduce_algorithm.hpp"

#include <memory>

namespace selvage::detail {

/// A binomial tree: on each level, pairs of ranks at twice the distance of the last level are formed, and one of each pair sends its
/// combined values to the other. The result goes back along the same tree (Faraji, thesis 3.2.2, Binomial Tree Based). Ranks of a host use
/// shared memory, with slots in the memory of each receiver; ranks of different hosts use messages. On hosts only.
///
/// Each rank has two slots, where the thesis has one that holds the level, so that the next level can't overwrite values that are still
/// read. Works for any number of ranks.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_binomial_tree(const AllreduceParts& parts);

}  // namespace selvage::detail
