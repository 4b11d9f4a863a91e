#include "peer_blocks.hpp"

#include "context_state.hpp"
#include "mappable.hpp"

namespace selvage::detail {

PeerBlocks::PeerBlocks(ContextState& context, const Executor& executor, std::span<const int> group,
                       std::size_t bytes, std::string_view purpose) {
  SharedRange mine;
  context.all_or_none(purpose, [&] {
    own_ = allocate_mappable(context, executor, bytes);
    const auto kind = executor.runs_on_host() ? MemoryKind::host : MemoryKind::device;
    if (kind == MemoryKind::device) own_.owner = context.freed_after_barrier(std::move(own_.owner));
    const auto range = context.name_memory(own_.data, bytes, kind);
    if (!range)
      throw Error(ErrorKind::unsupported, "a block lies in memory that can't be named to other ranks");
    mine = *range;
  });
  map(context, group, own_.data, context.gather(mine, purpose), purpose);
}

PeerBlocks::PeerBlocks(ContextState& context, std::byte* data, std::span<const int> group, std::size_t bytes,
                       MemoryKind memory, std::string_view purpose) {
  const auto range = context.name_memory(data, bytes, memory);
  const std::vector<SharedRange> ranges = context.gather(range.value_or(SharedRange()), purpose);
  for (const SharedRange& each : ranges) {
    if (each.segment_bytes == 0) return;
  }
  map(context, group, data, ranges, purpose);
}

void PeerBlocks::map(ContextState& context, std::span<const int> group, std::byte* own,
                     const std::vector<SharedRange>& ranges, std::string_view purpose) {
  context.all_or_none(purpose, [&] {
    for (const int rank : group) {
      if (rank == context.rank()) {
        blocks_.push_back(own);
        continue;
      }
      PeerMappings::Mapped mapped = context.mappings().map(ranges[static_cast<std::size_t>(rank)]);
      blocks_.push_back(mapped.data);
      mappings_.push_back(std::move(mapped.owner));
    }
  });
}

}  // namespace selvage::detail
