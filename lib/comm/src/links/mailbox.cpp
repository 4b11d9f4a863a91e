#include "mailbox.hpp"

#include "runtime/context_state.hpp"
#include "runtime/mappable.hpp"

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

}  // namespace

NamedBuffer allocate_named(ContextState& context, const Executor& executor, std::size_t bytes) {
  Buffer buffer = allocate_mappable(context, executor, bytes);
  const auto kind = executor.runs_on_host() ? MemoryKind::host : MemoryKind::device;
  const auto range = context.name_memory(buffer.data, bytes, kind);
  if (!range) throw Error(ErrorKind::unsupported, "flags lie in memory that can't be named to other ranks");
  return {std::move(buffer), *range};
}

Mailbox::Mailbox(const TransportParts& parts, const std::vector<LandingBytes>& landing_bytes) {
  Carver carver;
  for (const LandingBytes& bytes : landing_bytes) {
    MailboxCard& card = cards_.emplace_back();
    card.flags_offset = carver.take(sizeof(Flags));
    for (auto& offset : card.ghosts_offsets) offset = carver.take(bytes.ghosts);
    card.contributions_offset = carver.take(bytes.contributions);
  }
  NamedBuffer memory = allocate_named(parts.context, parts.executor, carver.used());
  memory_ = std::move(memory.buffer);
  data_ = memory_.data;
  for (MailboxCard& card : cards_) card.range = memory.range;
}

}  // namespace selvage::detail
