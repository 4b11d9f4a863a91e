#pragma once

#include "message_memory.hpp"
#include "pending_messages.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace selvage::detail {

/// Ranks of a group tell each other by messages how far they are: for what a kernel must not wait for, since on other
/// ranks' GPUs other kernels may be before those that it waits for. Not collective.
class HostBarrier {
 public:
  /// \param tag  which no other messages between two ranks of the group have
  HostBarrier(ContextState& context, std::vector<int> group, int rank, int tag)
      : group_(std::move(group)),
        rank_(rank),
        words_(memory_.allocate(group_.size() + 1)),
        messages_(context, memory_, tag) {}

  /// Polls. \return whether all ranks have come as often as this one
  [[nodiscard]] bool meet() {
    if (!is_underway_) {
      std::byte* const sent = words_ + group_.size();
      *sent = std::byte{1};
      for (std::size_t place = 0; place < group_.size(); ++place) {
        if (group_[place] == rank_) continue;
        messages_.receive(words_ + place, 1, group_[place]);
        messages_.send(sent, 1, group_[place]);
      }
    }
    is_underway_ = !messages_.are_done();
    return !is_underway_;
  }
  /// \param what  is awaited of those that are late
  [[nodiscard]] std::string describe_late(const char* what) const { return messages_.describe(what); }

 private:
  std::vector<int> group_;
  int rank_;
  MessageMemory memory_;
  std::byte* words_;
  PendingMessages messages_;
  bool is_underway_ = false;
};

}  // namespace selvage::detail
