#include "group_collectives.hpp"

#include "mpi_two_shot.hpp"
#include "recursive_doubling.hpp"
#include "ring.hpp"
#include "tree_group.hpp"

namespace selvage::detail {

std::unique_ptr<GroupCollective> make_group_collective(const Level& level, const Executor& executor,
                                                       const GroupParts& parts) {
  const MakeLink link = [&](const GroupParts& of, const LinkShape& shape) {
    return level.is_shared ? make_shared_link(of, executor, shape) : make_message_link(of, shape);
  };
  switch (level.algorithm) {
    case AllreduceAlgorithm::shared_buffer_tree:
      return make_tree_group(parts, flat_tree, link);
    case AllreduceAlgorithm::binomial_tree:
      return make_tree_group(parts, binomial_tree, link);
    case AllreduceAlgorithm::recursive_doubling:
      return make_recursive_doubling_group(parts);
    case AllreduceAlgorithm::ring:
      return make_ring_group(parts);
    default:
      return make_mpi_two_shot_group(parts);
  }
}

}  // namespace selvage::detail
