#pragma once

#include "allreduce_algorithm.hpp"

#include <memory>

namespace selvage::detail {

/// Three stages: groups combine theirs at a leader each, leaders combine that, groups get the result; chunks of the
/// elements pass through them one after the other, so that different stages of several chunks overlap (Temucin et al.,
/// V-B2). Groups are those of AllreduceOptions::group_size, else hosts.
///
/// With more than two leaders these form a ring, since each would otherwise send all elements to several others.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_pipelined(const AllreduceParts& parts);

}  // namespace selvage::detail
