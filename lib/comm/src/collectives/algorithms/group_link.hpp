#pragma once

#include "group_collective.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace selvage::detail {

class Executor;

/// A block of values on its way into a slot of its receiver.
struct SlotBlock {
  int slot;
  std::int64_t bytes;
  /// Another rank fills the slot before: the sender waits for the receiver's word. Otherwise the slot is free whenever
  /// the sender has the last result.
  bool is_shared;
};

/// Carries values from rank to rank of a group, and results back. Between two ranks at most one block of values and one
/// result are under way, in turn.
class GroupLink {
 public:
  GroupLink() = default;
  GroupLink(const GroupLink&) = delete;
  GroupLink& operator=(const GroupLink&) = delete;
  virtual ~GroupLink() = default;

  /// Lets a rank fill a slot of this one. Once per block, before has_arrived().
  virtual void expect(int from, const SlotBlock& block) = 0;
  /// Polls, until it is true, once.
  [[nodiscard]] virtual bool has_arrived(int from, int slot) = 0;
  [[nodiscard]] virtual std::byte* slot(int slot) const = 0;
  /// false: not yet, call again. `values` must stay until is_flushed().
  [[nodiscard]] virtual bool send(int to, const std::byte* values, const SlotBlock& block) = 0;

  /// Offers a result to ranks that take() it. `result` must stay until is_flushed().
  virtual void offer(std::span<const int> to, const std::byte* result, std::int64_t bytes) = 0;
  /// Polls, until it is true, once.
  [[nodiscard]] virtual bool take(int from, std::byte* result, std::int64_t bytes) = 0;
  [[nodiscard]] virtual bool is_flushed() = 0;

  [[nodiscard]] virtual std::string describe_late() const = 0;
  [[nodiscard]] virtual std::int64_t bytes_between_hosts() const { return 0; }
};

/// What a link keeps on this rank.
struct LinkShape {
  int slots;                 ///< of this rank; those without any offer no results either
  std::size_t slot_bytes;    ///< the same on all ranks
  std::size_t result_bytes;  ///< the same on all ranks
};

/// Through memory that the ranks of a host share. Collective over the context, whose ranks are all in one group.
[[nodiscard]] std::unique_ptr<GroupLink> make_shared_link(const GroupParts& parts, const Executor& executor,
                                                          const LinkShape& shape);
/// By MPI's messages.
[[nodiscard]] std::unique_ptr<GroupLink> make_message_link(const GroupParts& parts, const LinkShape& shape);

}  // namespace selvage::detail
