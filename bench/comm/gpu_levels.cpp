#include "gpu_levels.hpp"

#include <mpi.h>

#include <algorithm>
#include <vector>

namespace selvage::bench {
namespace {

/// The ranks with the same color, as a context of their own.
Context part_of(const Context& context, int color) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(context.comm(), color, context.rank(), &comm);
  Context part(comm);
  MPI_Comm_free(&comm);
  return part;
}

}  // namespace

std::optional<GpuLevels> gpu_levels(const Context& context) {
  const topo::Machine& machine = context.machine();
  std::vector<std::vector<int>> gpus;
  for (int rank = 0; rank < context.size(); ++rank) {
    const auto same = [&](const std::vector<int>& ranks) { return machine.same_gpu(ranks.front(), rank); };
    const auto found = std::ranges::find_if(gpus, same);
    if (found == gpus.end()) {
      gpus.push_back({rank});
    } else {
      found->push_back(rank);
    }
  }
  const std::size_t ranks_per_gpu = gpus.front().size();
  const auto is_full = [&](const std::vector<int>& ranks) { return ranks.size() == ranks_per_gpu; };
  if (gpus.size() == 1 || ranks_per_gpu == 1 || !std::ranges::all_of(gpus, is_full)) return {};
  for (const std::vector<int>& ranks : gpus) {
    const auto own = std::ranges::find(ranks, context.rank());
    if (own == ranks.end()) continue;
    return GpuLevels{.within = part_of(context, ranks.front()),
                     .between = part_of(context, static_cast<int>(own - ranks.begin()))};
  }
  return {};
}

}  // namespace selvage::bench
