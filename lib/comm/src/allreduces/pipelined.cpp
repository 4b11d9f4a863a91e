#include "pipelined.hpp"

#include "../context_state.hpp"
#include "levels.hpp"

#include <utility>
#include <vector>

namespace selvage::detail {
namespace {

/// Ranks that follow each other; the last group may be smaller.
std::vector<std::vector<int>> groups_of(const AllreduceParts& parts) {
  if (parts.group_size == 0) return ranks_by_host(parts);
  std::vector<std::vector<int>> groups;
  for (const int rank : all_ranks(parts)) {
    if (rank % parts.group_size == 0) groups.emplace_back();
    groups.back().push_back(rank);
  }
  return groups;
}

}  // namespace

std::unique_ptr<AllreduceRunner> make_pipelined(const AllreduceParts& parts) {
  const std::vector<std::vector<int>> groups = groups_of(parts);
  const AllreduceAlgorithm exchange =
      groups.size() == 2 ? AllreduceAlgorithm::recursive_doubling : AllreduceAlgorithm::ring;
  return make_levels(parts, groups, parts.inner.value_or(AllreduceAlgorithm::gsb),
                     parts.outer.value_or(exchange), {.chunk_bytes = 128 * 1024, .lanes = 4});
}

}  // namespace selvage::detail
