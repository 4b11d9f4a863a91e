#include "peer_blocks.hpp"

#include "context_state.hpp"
#include "mappable.hpp"

namespace selvage::detail {

PeerBlocks::PeerBlocks(ContextState& context, const Executor& executor, std::size_t bytes,
                       std::string_view purpose) {
  SharedRange mine;
  context.all_or_none(purpose, [&] {
    own_ = allocate_mappable(context, executor, bytes);
    const auto kind = executor.runs_on_host() ? MemoryKind::host : MemoryKind::device;
    const auto range = context.name_memory(own_.data, bytes, kind);
    if (!range)
      throw Error(ErrorKind::unsupported, "a block lies in memory that can't be named to other ranks");
    mine = *range;
  });
  blocks_.assign(static_cast<std::size_t>(context.size()), nullptr);
  blocks_[static_cast<std::size_t>(context.rank())] = own_.data;
  map(context, context.gather(mine, purpose), purpose);
}

PeerBlocks::PeerBlocks(ContextState& context, std::byte* data, std::size_t bytes, MemoryKind memory,
                       std::string_view purpose) {
  const auto range = context.name_memory(data, bytes, memory);
  const std::vector<SharedRange> ranges = context.gather(range.value_or(SharedRange()), purpose);
  for (const SharedRange& each : ranges) {
    if (each.segment_bytes == 0) return;
  }
  blocks_.assign(ranges.size(), nullptr);
  blocks_[static_cast<std::size_t>(context.rank())] = data;
  map(context, ranges, purpose);
}

void PeerBlocks::map(ContextState& context, const std::vector<SharedRange>& ranges,
                     std::string_view purpose) {
  context.all_or_none(purpose, [&] {
    for (std::size_t rank = 0; rank < ranges.size(); ++rank) {
      if (blocks_[rank] != nullptr) continue;
      PeerMappings::Mapped mapped = context.mappings().map(ranges[rank]);
      blocks_[rank] = mapped.data;
      mappings_.push_back(std::move(mapped.owner));
    }
  });
}

}  // namespace selvage::detail
