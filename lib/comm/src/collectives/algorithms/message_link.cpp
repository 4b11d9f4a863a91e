#include "group_link.hpp"
#include "pending_messages.hpp"

#include <deque>

namespace selvage::detail {
namespace {

class MessageLink final : public GroupLink {
 public:
  MessageLink(const GroupParts& parts, const LinkShape& shape)
      : parts_(parts),
        slot_bytes_(shape.slot_bytes),
        slots_(parts.memory.allocate(static_cast<std::size_t>(shape.slots) * shape.slot_bytes)),
        sent_(parts.context, parts.memory, parts.tag),
        taken_(parts.context, parts.memory, parts.tag) {
    for (int slot = 0; slot < shape.slots; ++slot)
      arrivals_.emplace_back(parts.context, parts.memory, parts.tag);
  }

  void expect(int from, const SlotBlock& block) override {
    arrivals(block.slot).receive(slot(block.slot), block.bytes, parts_.rank(from));
  }
  bool has_arrived(int /*from*/, int slot) override {
    awaited_ = &arrivals(slot);
    return awaited_->are_done();
  }
  [[nodiscard]] std::byte* slot(int slot) const override {
    return slots_ + static_cast<std::size_t>(slot) * slot_bytes_;
  }
  bool send(int to, const std::byte* values, const SlotBlock& block) override {
    sent_.send(values, block.bytes, parts_.rank(to));
    return true;
  }

  void offer(std::span<const int> to, const std::byte* result, std::int64_t bytes) override {
    for (const int place : to) sent_.send(result, bytes, parts_.rank(place));
  }
  bool take(int from, std::byte* result, std::int64_t bytes) override {
    if (!is_asking_) taken_.receive(result, bytes, parts_.rank(from));
    awaited_ = &taken_;
    is_asking_ = !taken_.are_done();
    return !is_asking_;
  }
  bool is_flushed() override {
    awaited_ = &sent_;
    return sent_.are_done();
  }

  [[nodiscard]] std::string describe_late() const override {
    return awaited_->describe(awaited_ == &sent_    ? "its receive"
                              : awaited_ == &taken_ ? "results"
                                                    : "values");
  }
  [[nodiscard]] std::int64_t bytes_between_hosts() const override { return sent_.bytes_between_hosts(); }

 private:
  [[nodiscard]] PendingMessages& arrivals(int slot) { return arrivals_[static_cast<std::size_t>(slot)]; }

  GroupParts parts_;
  std::size_t slot_bytes_;
  std::byte* slots_;
  std::deque<PendingMessages> arrivals_;  ///< by slot
  PendingMessages sent_;
  PendingMessages taken_;
  PendingMessages* awaited_ = &sent_;  ///< what the last poll asked for
  bool is_asking_ = false;             ///< a result
};

}  // namespace

std::unique_ptr<GroupLink> make_message_link(const GroupParts& parts, const LinkShape& shape) {
  return std::make_unique<MessageLink>(parts, shape);
}

}  // namespace selvage::detail
