#pragma once

#include "allreduce_algorithm.hpp"

#include <memory>

namespace selvage::detail {

/// Each rank combines its part of the elements of all, and gives the result to all: two waits, and each rank moves no
/// more than what it has.
///
/// On hosts, Views that all ranks map are read and written where they lie: nobody but a part's rank touches that part
/// of anybody's View between the two waits. Others pass through slots, of which two take turns.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_two_shot(const AllreduceParts& parts);

}  // namespace selvage::detail
