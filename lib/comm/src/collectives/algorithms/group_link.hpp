#pragma once

#include "group_collective.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace selvage::detail {

class Executor;

/// A block of values that is sent to a slot of its receiver.
struct SlotBlock {
  int slot;
  std::int64_t bytes;
  /// Whether another rank fills the same slot before. The sender then waits until the receiver offers the slot. Otherwise the slot is
  /// free when the sender has received the last result.
  bool is_shared;
};

/// Carries values between the ranks of a group, and results in the other direction. Between two ranks at most one block of values or one
/// result is underway.
class GroupLink {
 public:
  GroupLink() = default;
  GroupLink(const GroupLink&) = delete;
  GroupLink& operator=(const GroupLink&) = delete;
  virtual ~GroupLink() = default;

  /// Allows a rank to fill a slot of this rank. Call it once per block, before has_arrived().
  virtual void expect(int from, const SlotBlock& block) = 0;
  /// Polls. Call it until it has returned true, and not again.
  [[nodiscard]] virtual bool has_arrived(int from, int slot) = 0;
  [[nodiscard]] virtual std::byte* slot(int slot) const = 0;
  /// \return false if the slot is not free yet: call it again. `values` must stay valid until is_flushed()
  [[nodiscard]] virtual bool send(int to, const std::byte* values, const SlotBlock& block) = 0;

  /// Offers a result to the ranks that take() it. `result` must stay valid until is_flushed().
  virtual void offer(std::span<const int> to, const std::byte* result, std::int64_t bytes) = 0;
  /// Polls. Call it until it has returned true, and not again.
  [[nodiscard]] virtual bool take(int from, std::byte* result, std::int64_t bytes) = 0;
  [[nodiscard]] virtual bool is_flushed() = 0;

  [[nodiscard]] virtual std::string describe_late() const = 0;
  [[nodiscard]] virtual std::int64_t bytes_between_hosts() const { return 0; }
};

/// The memory of a link on this rank.
struct LinkShape {
  int slots;                 ///< of this rank; a rank without slots offers no results either
  std::size_t slot_bytes;    ///< the same on all ranks
  std::size_t result_bytes;  ///< the same on all ranks
};

/// A link by memory that the ranks of a host share. Collective over the context; all its ranks belong to one group or another.
[[nodiscard]] std::unique_ptr<GroupLink> make_shared_link(const GroupParts& parts, const Executor& executor,
                                                          const LinkShape& shape);
/// A link by messages of MPI.
[[nodiscard]] std::unique_ptr<GroupLink> make_message_link(const GroupParts& parts, const LinkShape& shape);

}  // namespace selvage::detail
