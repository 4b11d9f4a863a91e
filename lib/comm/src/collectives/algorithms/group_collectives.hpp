#pragma once

#include "group_collective.hpp"

#include <selvage/comm/allreduce_options.hpp>
#include <selvage/comm/detail/executor.hpp>

#include <memory>
#include <vector>

namespace selvage::detail {

/// One level of a reduction as a rank sees it.
struct Level {
  AllreduceAlgorithm algorithm;
  std::vector<int> group;  ///< without this rank: it only awaits what the level below brings
  bool is_shared;          ///< through shared memory instead of messages
};

/// \param level  of an algorithm that has a form for groups; this rank is in its group
[[nodiscard]] std::unique_ptr<GroupCollective> make_group_collective(const Level& level,
                                                                     const Executor& executor,
                                                                     const GroupParts& parts);

}  // namespace selvage::detail
