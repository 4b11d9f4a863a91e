#pragma once

#include "allreduce_algorithm.hpp"

#include <memory>

namespace selvage::detail {

/// Every rank publishes its elements, and each rank combines the elements of all ranks. There is one wait, and each rank reads all
/// elements of all others.
///
/// On hosts each rank publishes its elements in one of two slots, which it uses alternately. A slot that is still read is not overwritten,
/// because a rank fills it only when all ranks have finished the reduction before the last one.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_one_shot(const AllreduceParts& parts);

}  // namespace selvage::detail
