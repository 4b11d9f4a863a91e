#pragma once

#include "allreduce_algorithm.hpp"

#include <memory>

namespace selvage::detail {

/// Each rank combines one part of the elements of all ranks and gives the result to all. There are two waits, and each rank moves no more
/// elements than it has.
///
/// On hosts, Views that all ranks map are read and written in place: between the two waits only the rank of a part accesses that part of
/// any View. Other Views pass through two slots that are used alternately.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_two_shot(const AllreduceParts& parts);

}  // namespace selvage::detail
