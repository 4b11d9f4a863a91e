#pragma once

#include "allreduce_algorithm.hpp"

#include <memory>

namespace selvage::detail {

/// Three stages: each group combines its elements at a leader, the leaders combine these, and each group receives the result. Chunks of
/// the elements pass through the stages one after the other, so that different stages of several chunks overlap (Temucin et al.,
/// V-B2). Groups are those of AllreduceOptions::group_size, else hosts.
///
/// With more than two leaders these form a ring, since each would otherwise send all elements to several others.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_pipelined(const AllreduceParts& parts);

}  // namespace selvage::detail
