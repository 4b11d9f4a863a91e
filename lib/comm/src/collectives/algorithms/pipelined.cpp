#include "pipelined.hpp"

#include "levels.hpp"
#include "runtime/context_state.hpp"

#include <utility>
#include <vector>

namespace selvage::detail {

std::unique_ptr<AllreduceRunner> make_pipelined(const AllreduceParts& parts) {
  const std::vector<std::vector<int>> groups =
      parts.group_size > 0 ? groups_in_order(parts.context.size(), parts.group_size) : ranks_by_host(parts);
  if (!parts.executor.runs_on_host())
    return make_levels_on_device(parts, groups, parts.outer.value_or(AllreduceAlgorithm::mpi), staged_chunks);
  const AllreduceAlgorithm exchange =
      groups.size() == 2 ? AllreduceAlgorithm::recursive_doubling : AllreduceAlgorithm::ring;
  return make_levels(parts, groups, parts.inner.value_or(AllreduceAlgorithm::shared_buffer_tree),
                     parts.outer.value_or(exchange), {.chunk_bytes = 128 * 1024, .lanes = 4});
}

}  // namespace selvage::detail
