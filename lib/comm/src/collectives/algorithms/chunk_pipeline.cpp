#include "chunk_pipeline.hpp"

#include "group_collectives.hpp"
#include "runtime/context_state.hpp"

#include <algorithm>
#include <utility>

namespace selvage::detail {

ChunkPipeline::ChunkPipeline(const AllreduceParts& parts, const std::vector<Level>& levels,
                             std::int64_t most_count, int lane)
    : elements_(parts.elements),
      operation_(parts.operation),
      ranks_(parts.context.size()),
      width_(static_cast<std::int64_t>(element_bytes(parts.elements.type))) {
  if (!parts.executor.runs_on_host()) {
    Buffer staging = parts.executor.allocate_staging(static_cast<std::size_t>(most_count * width_));
    staging_ = staging.data;
    memory_.keep(std::move(staging.owner));
  }
  ElementType values = elements_.type;
  for (const Level& level : levels) {
    const auto place = std::ranges::find(level.group, parts.context.rank());
    if (place == level.group.end()) break;
    levels_.push_back(make_group_collective(level, parts.executor,
                                            {.context = parts.context,
                                             .memory = memory_,
                                             .group = level.group,
                                             .place = static_cast<int>(place - level.group.begin()),
                                             .values = values,
                                             .elements = elements_.type,
                                             .operation = operation_,
                                             .most_count = most_count,
                                             .tag = parts.first_tag + lane}));
    values = accumulator_type(values);
  }
}

void ChunkPipeline::enter(Executor& executor, std::int64_t begin, std::int64_t count) {
  begin_ = begin;
  count_ = count;
  level_ = 0;
  is_rising_ = true;
  chunk_ = elements();
  if (staging_ == nullptr) return;
  chunk_ = staging_;
  executor.stage_out(staging_, elements(), static_cast<std::size_t>(count_ * width_));
  executor.fence();
}

bool ChunkPipeline::progress(Executor& executor) {
  while (is_rising_) {
    const std::byte* const values = level_ == 0 ? chunk_ : levels_[level_ - 1]->combined();
    if (!levels_[level_]->combine(values, count_)) return false;
    is_rising_ = level_ + 1 < levels_.size();
    if (is_rising_) {
      ++level_;
    } else {
      conclude();
    }
  }
  while (levels_[level_]->share(chunk_, count_)) {
    if (level_-- > 0) continue;
    level_ = 0;
    if (staging_ != nullptr)
      executor.stage_in(elements(), staging_, static_cast<std::size_t>(count_ * width_));
    count_ = 0;
    return true;
  }
  return false;
}

/// On the last level the values of all ranks are combined; converts this rank's part to elements.
void ChunkPipeline::conclude() const {
  const GroupCollective& top = *levels_.back();
  const Part held = top.held(count_);
  if (held.count == 0) return;
  conclude_fold(elements_.type, operation_, ranks_, top.combined(), chunk_ + held.begin * width_, held.count);
}

std::byte* ChunkPipeline::elements() const {
  return elements_.data + begin_ * width_;
}

std::int64_t ChunkPipeline::bytes_between_hosts() const {
  std::int64_t bytes = 0;
  for (const auto& level : levels_) bytes += level->bytes_between_hosts();
  return bytes;
}

}  // namespace selvage::detail
