#pragma once

#include "group_collective.hpp"

#include <selvage/comm/allreduce_options.hpp>
#include <selvage/comm/detail/executor.hpp>

#include <memory>
#include <vector>

namespace selvage::detail {

/// One level of a reduction, for one rank.
struct Level {
  AllreduceAlgorithm algorithm;
  std::vector<int> group;  ///< if this rank is not in it, it only waits for the result from the level below
  bool is_shared;          ///< whether to use shared memory instead of messages
};

/// \param level  of an algorithm that has a form for groups; this rank is in its group
[[nodiscard]] std::unique_ptr<GroupCollective> make_group_collective(const Level& level,
                                                                     const Executor& executor,
                                                                     const GroupParts& parts);

}  // namespace selvage::detail
