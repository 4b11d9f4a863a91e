#include "mailbox.hpp"

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

Mailbox::Mailbox(Arena& arena, const std::vector<LandingBytes>& landing_bytes) : arena_(arena) {
  Carver carver;
  for (const LandingBytes& bytes : landing_bytes) {
    MailboxCard& card = cards_.emplace_back();
    card.flags_offset = carver.take(sizeof(Flags));
    for (auto& offset : card.ghosts_offsets) offset = carver.take(bytes.ghosts);
    card.contributions_offset = carver.take(bytes.contributions);
  }
  data_ = arena_.allocate(carver.used());
  for (MailboxCard& card : cards_) card.range = *arena_.find(data_, carver.used());
}

Mailbox::~Mailbox() {
  arena_.deallocate(data_);
}

}  // namespace selvage::detail
