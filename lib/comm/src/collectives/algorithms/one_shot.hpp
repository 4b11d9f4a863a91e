#pragma once

#include "allreduce_algorithm.hpp"

#include <memory>

namespace selvage::detail {

/// Every rank shows its elements to all, and each combines all of them for itself: one wait, and each rank reads what
/// all others have.
///
/// On hosts a rank shows its elements in a slot of its own; two slots take turns. Why one that is still read isn't
/// overwritten: a rank fills it when all have done the reduction two before.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_one_shot(const AllreduceParts& parts);

}  // namespace selvage::detail
