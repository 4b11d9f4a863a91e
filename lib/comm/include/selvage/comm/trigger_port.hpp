#pragma once

#include <selvage/comm/detail/polling.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace selvage {

namespace detail {

/// What a trigger carries beside its tag.
enum class TriggerKind : std::uint32_t {
  count,   ///< the argument is added to the tag's counter
  length,  ///< counts one; the argument is added to the message's length, in the operation's units
  target,  ///< counts one; the argument is the rank the message goes to
};

/// A trigger as one 64-bit word, so that one store carries it: lap parity (bit 63), kind (60 to 62), id (44 to
/// 59), epoch (28 to 43), argument (0 to 27).
struct TriggerWord {
  static constexpr std::uint32_t ids = 1U << 16;
  static constexpr std::uint32_t arguments = 1U << 28;

  TriggerKind kind = TriggerKind::count;
  std::uint32_t id = 0;
  std::uint32_t epoch = 0;  ///< its lowest 16 bits
  std::uint32_t argument = 0;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::uint64_t encode(std::uint64_t parity) const {
    return parity << 63 | static_cast<std::uint64_t>(kind) << 60 |
           static_cast<std::uint64_t>(id % ids) << 44 | static_cast<std::uint64_t>(epoch & 0xffffU) << 28 |
           argument % arguments;
  }
  [[nodiscard]] static TriggerWord decode(std::uint64_t word) {
    return {static_cast<TriggerKind>(word >> 60 & 0x7U), static_cast<std::uint32_t>(word >> 44 & 0xffffU),
            static_cast<std::uint32_t>(word >> 28 & 0xffffU), static_cast<std::uint32_t>(word % arguments)};
  }
};

/// The parity of a slot's lap. It begins with 1, so that fresh, zeroed entries read as not yet written.
[[nodiscard]] KOKKOS_INLINE_FUNCTION std::uint64_t lap_parity(std::uint64_t slot, std::uint64_t capacity) {
  return (slot / capacity + 1) % 2;
}

}  // namespace detail

/// A kernel's end of the ring that takes triggers to the proxy (LeBeane, ch. 6: the trigger address). Any item
/// of any team may use it. Trivially copyable; the Triggers that gave it must outlive the kernel.
///
/// The five granularities of the thesis differ in who fires which tag and in the threshold alone:
/// item: fire() of a tag per item, 1; team: fire_team() of a tag per team, 1; kernel: fire_team() of one tag,
/// as many as teams; mixed: fire() of a tag per k items, k; leaderless: fire() of one tag, as many as items.
class TriggerPort {
 public:
  /// Names one firing of one registered operation: the epoch is part of the tag, so that a tag is never used
  /// twice and a trigger that comes late can't fire a later message. 16 bits of either travel. Epochs begin with
  /// 1; up to epochs_in_flight of one id may be underway at a time, since teams of a kernel may run ahead.
  struct Tag {
    static constexpr std::uint64_t epochs_in_flight = 4;

    std::uint32_t id = 0;
    std::uint64_t epoch = 1;
  };

  /// Counts `count` (below 2^28) for the tag. What this item stored before, and what it saw of other items'
  /// stores through a team barrier, is in the message when it is the one that reaches the threshold.
  /// \return false when the ring stayed full until the time limit; the trigger is lost then, and Triggers
  ///         says so. Others, also behind it, are not
  KOKKOS_FUNCTION bool fire(Tag tag, std::uint32_t count = 1) const {
    return push(detail::TriggerKind::count, tag, count);
  }
  /// Also adds to the length of the message, which the kernel knows better than who registered it (LeBeane,
  /// 6.1.4). In the units and up to the length of the registration.
  KOKKOS_FUNCTION bool fire_length(Tag tag, std::uint32_t units) const {
    return push(detail::TriggerKind::length, tag, units);
  }
  /// Also chooses the rank that the message goes to.
  KOKKOS_FUNCTION bool fire_target(Tag tag, std::uint32_t rank) const {
    return push(detail::TriggerKind::target, tag, rank);
  }
  /// Team barrier, then one trigger: the stores of the whole team are in the message. All of a team call it.
  template <class Team>
  KOKKOS_FUNCTION void fire_team(const Team& team, Tag tag) const {
    team.team_barrier();
    Kokkos::single(Kokkos::PerTeam(team), [&] { static_cast<void>(fire(tag)); });
  }

  /// Whether the operation has let go of its buffer (put, send) or filled it (get, receive) in this epoch.
  [[nodiscard]] KOKKOS_FUNCTION bool is_complete(Tag tag) const {
    return detail::HasReached{completed + completed_index(tag), tag.epoch}();
  }
  /// Polls is_complete(). \return false when the time has run out
  [[nodiscard]] KOKKOS_FUNCTION bool wait_complete(Tag tag) const {
    return detail::poll_until(detail::HasReached{completed + completed_index(tag), tag.epoch}, timeout_ns);
  }

  /// Waits until a word of this rank's window, such as an arrival counter, has reached `value`; what was put before it is visible
  /// then. All of a team call it. \return false when the time has run out
  template <class Team>
  KOKKOS_FUNCTION bool wait_until(const Team& team, const std::uint64_t* word, std::uint64_t value) const {
    return detail::wait_until(team, {word, value}, timeout_ns);
  }

  static constexpr std::uint64_t words_per_line = 16;  ///< 128 bytes
  /// Epochs that may be underway together have words of their own: they may complete in any order.
  [[nodiscard]] KOKKOS_FUNCTION static std::uint64_t completed_index(Tag tag) {
    return tag.id * words_per_line + tag.epoch % Tag::epochs_in_flight;
  }

  /// As many slots may be given up for want of room; then the ring refuses what finds it full.
  static constexpr std::uint64_t most_losses = 1024;
  static constexpr std::uint64_t losses_word = 1;  ///< of `head`: how many have been

  std::uint64_t* head = nullptr;        ///< the next free slot; kernel's memory, kernels alone
  std::uint64_t* known_tail = nullptr;  ///< at most *tail; kernel's memory, kernels alone
  std::uint64_t* entries = nullptr;     ///< host memory; written by kernels
  const std::uint64_t* tail = nullptr;  ///< the oldest slot in use; host memory, written by the proxy
  std::uint64_t* lost = nullptr;  ///< by loss: the slot given up, plus 1; host memory, written by kernels
  const std::uint64_t* completed = nullptr;  ///< by id, a line each; host memory, written by the proxy
  std::uint64_t capacity = 0;
  std::uint64_t timeout_ns = 0;

 private:
  KOKKOS_FUNCTION bool push(detail::TriggerKind kind, Tag tag, std::uint32_t argument) const {
    const std::uint64_t slot = detail::count_in(*head, 1) - 1;
    if (!wait_for_room(slot)) {
      give_up(slot);
      return false;
    }
    const detail::TriggerWord word{kind, tag.id, static_cast<std::uint32_t>(tag.epoch), argument};
    // Publishes to the proxy: the trigger, and all that this item stored or saw before.
    detail::release_word(entries[slot % capacity], word.encode(detail::lap_parity(slot, capacity)));
    return true;
  }

  /// The proxy's tail is read, across the bus, only when the ring looks full by what kernels know of it.
  KOKKOS_FUNCTION bool wait_for_room(std::uint64_t slot) const {
    if (has_room(slot, detail::acquire_word(*known_tail))) return true;
    if (detail::load_relaxed(head[losses_word]) >= most_losses) return false;
    return detail::poll_until(
        [&] {
          // Acquires that the proxy has read the entry that this slot overwrites.
          const std::uint64_t seen = detail::acquire_word(*tail);
          // Passes that on to other items. An older value from a slower item does no harm: it is a lower bound.
          detail::release_word(*known_tail, seen);
          return has_room(slot, seen);
        },
        timeout_ns);
  }
  /// The proxy passes over the slot: it would wait for it, and for all behind it, without end.
  KOKKOS_FUNCTION void give_up(std::uint64_t slot) const {
    const std::uint64_t losses = detail::count_in(head[losses_word], 1);
    // Publishes to the proxy: nothing will be written to this slot in this lap.
    if (losses <= most_losses) detail::release_word(lost[losses - 1], slot + 1);
  }
  [[nodiscard]] KOKKOS_FUNCTION bool has_room(std::uint64_t slot, std::uint64_t seen_tail) const {
    return static_cast<std::int64_t>(slot - seen_tail) < static_cast<std::int64_t>(capacity);
  }
};
static_assert(std::is_trivially_copyable_v<TriggerPort> && sizeof(TriggerPort) <= 64,
              "kernels take it by value");

}  // namespace selvage
