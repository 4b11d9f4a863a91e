#include "recursive_doubling.hpp"

#include "levels.hpp"
#include "pending_messages.hpp"

#include <array>
#include <bit>
#include <utility>

namespace selvage::detail {
namespace {

class RecursiveDoubling final : public GroupCollective {
 public:
  explicit RecursiveDoubling(const GroupParts& parts)
      : parts_(parts),
        players_(static_cast<int>(std::bit_floor(static_cast<unsigned>(parts.size())))),
        pairs_(parts.size() - players_),
        mine_(allocate()),
        theirs_(allocate()),
        messages_(parts.context, parts.memory, parts.tag) {}

  bool combine(const std::byte* values, std::int64_t count) override {
    if (!messages_.are_done()) return false;
    if (distance_ == 0) {
      fold_on(parts_.values, parts_.operation, std::array{values}, true, mine_, count);
      distance_ = 1;
      if (is_paired()) {
        meet_in_pair(count);
        is_meeting_ = true;
      }
    }
    for (;;) {
      if (!messages_.are_done()) return false;
      if (is_meeting_) fold_theirs(count);
      if (!plays() || distance_ == players_) break;
      swap_with(place_of(player() ^ distance_), count);
      theirs_come_first_ = (player() & distance_) != 0;
      is_meeting_ = true;
      distance_ *= 2;
    }
    distance_ = 0;
    return true;
  }

  [[nodiscard]] Part held(std::int64_t count) const override { return {0, plays() ? count : 0}; }
  [[nodiscard]] const std::byte* combined() const override { return mine_; }

  /// Sends to the other rank of a pair.
  bool share(std::byte* elements, std::int64_t count) override {
    const std::int64_t bytes = count * static_cast<std::int64_t>(element_bytes(parts_.elements));
    if (is_paired() && !is_sharing_) {
      if (plays()) {
        messages_.send(elements, bytes, parts_.rank(parts_.place + 1));
      } else {
        messages_.receive(elements, bytes, parts_.rank(parts_.place - 1));
      }
    }
    is_sharing_ = !messages_.are_done();
    return !is_sharing_;
  }

  [[nodiscard]] std::string describe_late() const override {
    return messages_.describe(is_sharing_ ? "results" : "values");
  }
  [[nodiscard]] std::int64_t bytes_between_hosts() const override { return messages_.bytes_between_hosts(); }

 private:
  [[nodiscard]] bool is_paired() const { return parts_.place < 2 * pairs_; }
  /// The lower rank takes part for its pair.
  [[nodiscard]] bool plays() const { return !is_paired() || parts_.place % 2 == 0; }
  [[nodiscard]] int player() const { return is_paired() ? parts_.place / 2 : parts_.place - pairs_; }
  [[nodiscard]] int place_of(int player) const { return player < pairs_ ? 2 * player : player + pairs_; }
  [[nodiscard]] std::byte* allocate() const {
    return parts_.memory.allocate(static_cast<std::size_t>(parts_.most_count) *
                                  accumulator_bytes(parts_.values));
  }
  [[nodiscard]] std::int64_t bytes(std::int64_t count) const {
    return count * static_cast<std::int64_t>(accumulator_bytes(parts_.values));
  }

  void meet_in_pair(std::int64_t count) {
    theirs_come_first_ = false;
    if (plays()) {
      messages_.receive(theirs_, bytes(count), parts_.rank(parts_.place + 1));
    } else {
      messages_.send(mine_, bytes(count), parts_.rank(parts_.place - 1));
    }
  }
  void swap_with(int peer, std::int64_t count) {
    messages_.receive(theirs_, bytes(count), parts_.rank(peer));
    messages_.send(mine_, bytes(count), parts_.rank(peer));
  }
  void fold_theirs(std::int64_t count) {
    is_meeting_ = false;
    if (!plays()) return;
    if (theirs_come_first_) std::swap(mine_, theirs_);
    fold_on(parts_.accumulators(), parts_.operation, std::array{static_cast<const std::byte*>(theirs_)},
            false, mine_, count);
  }

  GroupParts parts_;
  int players_;  ///< a power of two
  int pairs_;    ///< of the first places
  std::byte* mine_;
  std::byte* theirs_;
  PendingMessages messages_;
  int distance_ = 0;         ///< of the next swap; 0 before the first
  bool is_meeting_ = false;  ///< whether messages under way bring, or take, values
  bool theirs_come_first_ = false;
  bool is_sharing_ = false;
};

}  // namespace

std::unique_ptr<GroupCollective> make_recursive_doubling_group(const GroupParts& parts) {
  return std::make_unique<RecursiveDoubling>(parts);
}

std::unique_ptr<AllreduceRunner> make_recursive_doubling(const AllreduceParts& parts) {
  constexpr std::int64_t most_chunk_bytes = 4 * 1024 * 1024;
  return make_flat(parts, AllreduceAlgorithm::recursive_doubling, {.chunk_bytes = most_chunk_bytes});
}

}  // namespace selvage::detail
