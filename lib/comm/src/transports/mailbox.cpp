#include "mailbox.hpp"

#include "../context_state.hpp"

namespace selvage::detail {
namespace {

/// Hands out consecutive parts of a segment, each on lines of its own.
class Carver {
 public:
  std::uint64_t take(std::uint64_t bytes) {
    const std::uint64_t offset = used_;
    used_ += (bytes + alignof(Flags) - 1) / alignof(Flags) * alignof(Flags);
    return offset;
  }
  [[nodiscard]] std::uint64_t used() const { return used_; }

 private:
  std::uint64_t used_ = 0;
};

Buffer allocate_zeroed(const TransportParts& parts, std::size_t bytes) {
  if (!parts.executor.runs_on_host()) return parts.executor.allocate_zeroed(bytes);
  Arena& arena = parts.context.arena();
  std::byte* data = arena.allocate(bytes);
  return {data, std::shared_ptr<void>(data, [&arena](void* block) { arena.deallocate(block); })};
}

}  // namespace

Mailbox::Mailbox(const TransportParts& parts, const std::vector<LandingBytes>& landing_bytes) {
  Carver carver;
  for (const LandingBytes& bytes : landing_bytes) {
    MailboxCard& card = cards_.emplace_back();
    card.flags_offset = carver.take(sizeof(Flags));
    for (auto& offset : card.ghosts_offsets) offset = carver.take(bytes.ghosts);
    card.contributions_offset = carver.take(bytes.contributions);
  }
  memory_ = allocate_zeroed(parts, carver.used());
  data_ = memory_.data;
  const auto kind = parts.executor.runs_on_host() ? MemoryKind::host : MemoryKind::device;
  const auto range = parts.context.name_memory(data_, carver.used(), kind);
  if (!range)
    throw Error(ErrorKind::unsupported, "a mailbox lies in memory that can't be named to other ranks");
  for (MailboxCard& card : cards_) card.range = *range;
}

}  // namespace selvage::detail
