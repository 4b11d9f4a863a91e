#include "levels.hpp"

#include "chunk_pipeline.hpp"
#include "device_allreduce.hpp"
#include "group_collectives.hpp"
#include "runtime/context_state.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

namespace selvage::detail {
namespace {

class Levels final : public AllreduceRunner {
 public:
  Levels(const AllreduceParts& parts, std::int64_t chunk_elements, const std::vector<Level>& levels,
         int lanes)
      : elements_(parts.elements), chunk_elements_(chunk_elements) {
    for (int lane = 0; lane < lanes; ++lane) lanes_.emplace_back(parts, levels, chunk_elements, lane);
  }

  void start(Executor& executor) override {
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
      enter(executor, lanes_[lane], static_cast<std::int64_t>(lane) * chunk_elements_);
    static_cast<void>(progress(executor));
  }

  bool progress(Executor& executor) override {
    bool all_done = true;
    for (ChunkPipeline& lane : lanes_) {
      while (!lane.is_idle() && lane.progress(executor))
        enter(executor, lane, lane.begin() + static_cast<std::int64_t>(lanes_.size()) * chunk_elements_);
      all_done = all_done && lane.is_idle();
    }
    return all_done;
  }

  [[nodiscard]] std::string describe_late() const override {
    for (const ChunkPipeline& lane : lanes_) {
      if (!lane.is_idle()) return lane.describe_late();
    }
    return {};
  }
  [[nodiscard]] std::int64_t bytes_between_hosts() const override {
    std::int64_t bytes = 0;
    for (const ChunkPipeline& lane : lanes_) bytes += lane.bytes_between_hosts();
    return bytes;
  }

 private:
  void enter(Executor& executor, ChunkPipeline& lane, std::int64_t begin) const {
    const std::int64_t count = std::min(chunk_elements_, elements_.count - begin);
    if (count > 0) lane.enter(executor, begin, count);
  }

  Elements elements_;
  std::int64_t chunk_elements_;
  std::deque<ChunkPipeline> lanes_;
};

bool can_share_memory(const AllreduceParts& parts, const std::vector<std::vector<int>>& groups) {
  const topo::Machine& machine = parts.context.machine();
  return parts.executor.runs_on_host() && parts.context.mapping_refusal(MemoryKind::host).empty() &&
         std::ranges::all_of(groups, [&](const std::vector<int>& group) {
           return std::ranges::all_of(group,
                                      [&](int rank) { return machine.same_host(group.front(), rank); });
         });
}

}  // namespace

std::unique_ptr<AllreduceRunner> make_levels(const AllreduceParts& parts,
                                             const std::vector<std::vector<int>>& groups,
                                             AllreduceAlgorithm inner, AllreduceAlgorithm outer,
                                             const LevelShape& shape) {
  const auto width = static_cast<std::int64_t>(element_bytes(parts.elements.type));
  const std::int64_t most = std::max<std::int64_t>(1, shape.chunk_bytes / width);
  const std::int64_t chunk_elements = std::clamp<std::int64_t>(parts.elements.count, 1, most);
  const std::int64_t chunks = (parts.elements.count + chunk_elements - 1) / chunk_elements;

  std::vector<Level> levels;
  if (std::ranges::any_of(groups, [](const std::vector<int>& group) { return group.size() > 1; })) {
    const auto own = std::ranges::find_if(groups, [&](const std::vector<int>& group) {
      return std::ranges::find(group, parts.context.rank()) != group.end();
    });
    levels.push_back({inner, *own, can_share_memory(parts, groups)});
  }
  if (groups.size() > 1) {
    Level& level = levels.emplace_back(Level{outer, {}, false});
    for (const std::vector<int>& group : groups) level.group.push_back(group.front());
  }
  return std::make_unique<Levels>(parts, chunk_elements, levels,
                                  static_cast<int>(std::min<std::int64_t>(shape.lanes, chunks)));
}

std::unique_ptr<AllreduceRunner> make_flat(const AllreduceParts& parts, AllreduceAlgorithm algorithm,
                                           const LevelShape& shape) {
  return make_levels(parts, groups_in_order(parts.context.size(), 1), algorithm, algorithm, shape);
}

std::unique_ptr<AllreduceRunner> make_levels_on_device(const AllreduceParts& parts,
                                                       const std::vector<std::vector<int>>& groups,
                                                       std::optional<AllreduceAlgorithm> outer,
                                                       const LevelShape& shape) {
  DeviceLevels levels{
      .group = {}, .outer_group = {}, .outer = outer, .chunk_bytes = shape.chunk_bytes, .lanes = shape.lanes};
  std::ptrdiff_t place = 0;
  for (const std::vector<int>& group : groups) {
    const auto own = std::ranges::find(group, parts.context.rank());
    if (own == group.end()) continue;
    levels.group = group;
    place = own - group.begin();
  }
  for (const std::vector<int>& group : groups)
    levels.outer_group.push_back(group[static_cast<std::size_t>(place)]);
  return make_device_levels(parts, levels);
}

std::unique_ptr<AllreduceRunner> make_nccl(const AllreduceParts& parts) {
  return make_levels_on_device(parts, groups_in_order(parts.context.size(), 1), AllreduceAlgorithm::nccl,
                               {.chunk_bytes = whole_chunk_bytes});
}

std::vector<std::vector<int>> groups_in_order(int ranks, int group_size) {
  std::vector<std::vector<int>> groups;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank % group_size == 0) groups.emplace_back();
    groups.back().push_back(rank);
  }
  return groups;
}

std::vector<int> first_ranks_of_gpus(const topo::Machine& machine) {
  std::vector<int> firsts;
  std::map<int, std::vector<int>> known;  // by host
  for (int rank = 0; rank < machine.rank_count(); ++rank) {
    std::vector<int>& on_host = known[machine.place(rank).physical_host];
    const auto same = std::ranges::find_if(on_host, [&](int first) { return machine.same_gpu(first, rank); });
    firsts.push_back(same == on_host.end() ? on_host.emplace_back(rank) : *same);
  }
  return firsts;
}

std::vector<std::vector<int>> device_groups(int group_size, const std::vector<int>& first_ranks) {
  if (group_size > 0) return groups_in_order(static_cast<int>(first_ranks.size()), group_size);
  std::map<int, std::vector<int>> groups;
  for (std::size_t rank = 0; rank < first_ranks.size(); ++rank)
    groups[first_ranks[rank]].push_back(static_cast<int>(rank));
  std::vector<std::vector<int>> ranks;
  for (auto& [first, group] : groups) ranks.push_back(std::move(group));
  return ranks;
}

std::vector<std::vector<int>> ranks_by_host(const AllreduceParts& parts) {
  std::vector<std::vector<int>> groups;
  for (const topo::LogicalHost& host : parts.context.machine().hosts()) groups.push_back(host.ranks);
  return groups;
}

}  // namespace selvage::detail
