#include "group_link.hpp"
#include "lockstep.hpp"

#include <cstring>
#include <utility>
#include <vector>

namespace selvage::detail {
namespace {

/// The block of each rank holds the result that it offers, then its slots. The flags between two ranks count signals: a block has arrived, a
/// slot is free, a result is available.
///
/// Why memory that is still read is not overwritten: a slot that belongs to one sender is filled again when the sender has received the last
/// result, which the receiver offers after it has combined all slots. A slot that several senders use is filled when the receiver offers
/// it. A result is overwritten when all ranks that have read the last one have sent values again.
class SharedLink final : public GroupLink {
 public:
  SharedLink(const GroupParts& parts, const Executor& executor, const LinkShape& shape)
      : slot_bytes_(lines(shape.slot_bytes)),
        result_bytes_(lines(shape.result_bytes)),
        lockstep_(parts.context, executor, parts.group,
                  shape.slots == 0 ? 0 : result_bytes_ + static_cast<std::size_t>(shape.slots) * slot_bytes_,
                  "the construction of a collective"),
        told_(parts.group.size()),
        heard_(parts.group.size()) {}

  void expect(int from, const SlotBlock& block) override {
    if (block.is_shared) tell(from);
  }
  bool has_arrived(int from, int /*slot*/) override { return has_heard(from); }
  [[nodiscard]] std::byte* slot(int slot) const override { return slot_of(lockstep_.place(), slot); }

  bool send(int to, const std::byte* values, const SlotBlock& block) override {
    if (block.is_shared && !has_heard(to)) return false;
    std::memcpy(slot_of(to, block.slot), values, static_cast<std::size_t>(block.bytes));
    tell(to);
    return true;
  }

  void offer(std::span<const int> to, const std::byte* result, std::int64_t bytes) override {
    std::memcpy(lockstep_.memory(lockstep_.place()), result, static_cast<std::size_t>(bytes));
    for (const int place : to) tell(place);
  }
  bool take(int from, std::byte* result, std::int64_t bytes) override {
    if (!has_heard(from)) return false;
    std::memcpy(result, lockstep_.memory(from), static_cast<std::size_t>(bytes));
    return true;
  }
  bool is_flushed() override { return true; }

  [[nodiscard]] std::string describe_late() const override {
    return lockstep_.describe_late(awaited_, heard(awaited_) + 1);
  }

 private:
  [[nodiscard]] static std::size_t lines(std::size_t bytes) {
    return (bytes + sizeof(Flag) - 1) / sizeof(Flag) * sizeof(Flag);
  }
  [[nodiscard]] std::byte* slot_of(int place, int slot) const {
    return lockstep_.memory(place) + result_bytes_ + static_cast<std::size_t>(slot) * slot_bytes_;
  }
  [[nodiscard]] std::uint64_t heard(int place) const { return heard_[static_cast<std::size_t>(place)]; }
  /// Publishes to one rank that this rank has completed its stores and reads.
  void tell(int place) { lockstep_.publish_to(place, ++told_[static_cast<std::size_t>(place)]); }
  /// Acquires the stores and reads of the rank before its signal.
  bool has_heard(int place) {
    awaited_ = place;
    if (!lockstep_.has_done(place, heard(place) + 1)) return false;
    ++heard_[static_cast<std::size_t>(place)];
    return true;
  }

  std::size_t slot_bytes_;
  std::size_t result_bytes_;
  Lockstep lockstep_;
  std::vector<std::uint64_t> told_;   ///< by place
  std::vector<std::uint64_t> heard_;  ///< by place
  int awaited_ = 0;                   ///< whom the last poll asked
};

}  // namespace

std::unique_ptr<GroupLink> make_shared_link(const GroupParts& parts, const Executor& executor,
                                            const LinkShape& shape) {
  return std::make_unique<SharedLink>(parts, executor, shape);
}

}  // namespace selvage::detail
