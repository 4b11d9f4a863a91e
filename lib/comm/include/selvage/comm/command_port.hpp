#pragma once

#include <selvage/comm/detail/polling.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace selvage {

namespace detail {

enum class CommandKind : std::uint32_t {
  put,
  get,
  put_value,
  quiet,
  send,
  receive,
  receive_up_to,  ///< a message by MPI that may be shorter than `bytes`; of a longer one the first `bytes`
};

/// One slot of a team's ring: a whole descriptor (LeBeane, 5.3.1). All of it is written by the team's leader.
struct Command {
  std::uint64_t ready = 0;  ///< released last: the command's number, from 1
  CommandKind kind = CommandKind::put;
  std::int32_t rank = 0;
  std::uint64_t offset = 0;  ///< in the rank's window
  std::uint64_t bytes = 0;
  std::uint64_t payload = 0;  ///< an address, or the value itself
  /// Offset of the word that becomes `arrival_value`, or no_arrival; of a message: address of the word, here.
  std::uint64_t arrival = 0;
  std::uint64_t arrival_value = 0;
  std::uint64_t is_blocking = 0;
  std::uint64_t remote = 0;     ///< of a message to mapped memory: where it lands, as an address here
  std::uint64_t own_flag = 0;   ///< likewise: the word that the other rank releases, here; 0: MPI carries it
  std::uint64_t peer_flag = 0;  ///< likewise: the word that this rank releases, there

  /// Takes over all but `ready`, which the service thread reads at the same time.
  KOKKOS_FUNCTION void describe(const Command& other) {
    kind = other.kind;
    rank = other.rank;
    offset = other.offset;
    bytes = other.bytes;
    payload = other.payload;
    arrival = other.arrival;
    arrival_value = other.arrival_value;
    is_blocking = other.is_blocking;
    remote = other.remote;
    own_flag = other.own_flag;
    peer_flag = other.peer_flag;
  }
};
static_assert(sizeof(Command) == 88);
inline constexpr std::uint64_t no_arrival = ~std::uint64_t{0};

/// What a team keeps of its ring, in the kernel's memory, from kernel to kernel.
struct CommandProducer {
  std::uint64_t written = 0;     ///< commands so far; released where the service thread fetches slots by it
  std::uint64_t known_read = 0;  ///< at most what *read says; reloaded when the ring looks full
};

}  // namespace detail

/// What a kernel takes along of a CommandQueue. Trivially copyable.
class CommandPort {
 public:
  class Ring;

  /// Ring number `number`, from 0 and below Options::rings, which isn't checked: usually the team's league rank.
  [[nodiscard]] KOKKOS_FUNCTION Ring ring(int number) const;

  static constexpr std::uint64_t words_per_line = 16;  ///< 128 bytes

  detail::CommandProducer* producers = nullptr;  ///< kernel's memory, a team's leader alone
  detail::Command* slots = nullptr;              ///< written by kernels
  const std::uint64_t* read =
      nullptr;                 ///< by ring, a line each: commands done with; written by service threads
  std::uint64_t capacity = 0;  ///< slots per ring
  std::uint64_t timeout_ns = 0;
  std::uint64_t window = 0;  ///< where this rank's begins
  bool is_fetched = false;   ///< slots lie in the kernel's memory, and `written` says how far they are
};
static_assert(std::is_trivially_copyable_v<CommandPort> && sizeof(CommandPort) <= 64);

/// One team's end of its ring of commands (ComP-Net's context). Its calls are OpenSHMEM's, made by all of a team
/// together: the leader writes the descriptor, and every call begins with a team barrier, so that the
/// stores of the whole team are in what is sent. A call that waits ends with one. Remote places and words
/// (64-bit, aligned) are given by addresses in this rank's own part of the window; the same offset is meant at the target. Local
/// memory is any in the window's memory space.
///
/// Calls return false on all items when the proxy made no room, or did not answer, within the time limit.
/// Get one from CommandPort::ring; one team per ring at a time.
class CommandPort::Ring {
 public:
  KOKKOS_FUNCTION Ring(detail::CommandProducer* producer, detail::Command* slots, const std::uint64_t* read,
                       std::uint64_t capacity, std::uint64_t timeout_ns, std::uint64_t window,
                       bool is_fetched)
      : producer_(producer),
        slots_(slots),
        read_(read),
        capacity_(capacity),
        timeout_ns_(timeout_ns),
        window_(window),
        is_fetched_(is_fetched) {}

  /// Stores `bytes` from `source` at `target` of `rank`'s window; `source` may change when it returns.
  template <class Team>
  KOKKOS_FUNCTION bool put(const Team& team, void* target, const void* source, std::uint64_t bytes,
                           int rank) const {
    return issue(team, transfer(detail::CommandKind::put, target, source, bytes, rank), true);
  }
  /// The same, but `source` must not change before quiet().
  template <class Team>
  KOKKOS_FUNCTION bool put_nbi(const Team& team, void* target, const void* source, std::uint64_t bytes,
                               int rank) const {
    return issue(team, transfer(detail::CommandKind::put, target, source, bytes, rank), false);
  }
  /// put_nbi(), then `*word = value` at the rank, for its wait_until(): the bytes are there when the word is.
  template <class Team>
  KOKKOS_FUNCTION bool put_signal(const Team& team, void* target, const void* source, std::uint64_t bytes,
                                  std::uint64_t* word, std::uint64_t value, int rank) const {
    detail::Command command = transfer(detail::CommandKind::put, target, source, bytes, rank);
    command.arrival = offset_of(word);
    command.arrival_value = value;
    return issue(team, command, false);
  }
  /// `*word = value` at the rank; the value travels in the descriptor. After quiet() it comes after all puts.
  template <class Team>
  KOKKOS_FUNCTION bool put_value(const Team& team, std::uint64_t* word, std::uint64_t value, int rank) const {
    detail::Command command = transfer(detail::CommandKind::put_value, word, nullptr, 0, rank);
    command.payload = value;
    return issue(team, command, false);
  }
  /// Loads `bytes` at `source` of `rank`'s window to `target`, which is filled when it returns.
  template <class Team>
  KOKKOS_FUNCTION bool get(const Team& team, void* target, const void* source, std::uint64_t bytes,
                           int rank) const {
    return issue(team, transfer(detail::CommandKind::get, source, target, bytes, rank), true);
  }
  /// The same, but `target` is filled only after quiet().
  template <class Team>
  KOKKOS_FUNCTION bool get_nbi(const Team& team, void* target, const void* source, std::uint64_t bytes,
                               int rank) const {
    return issue(team, transfer(detail::CommandKind::get, source, target, bytes, rank), false);
  }
  /// Waits until all that this ring issued has happened at its targets, and for nothing else.
  template <class Team>
  KOKKOS_FUNCTION bool quiet(const Team& team) const {
    detail::Command command;
    command.kind = detail::CommandKind::quiet;
    return issue(team, command, true);
  }
  /// Waits until a word of this rank's window has reached `value`; what was put before it is visible then.
  template <class Team>
  KOKKOS_FUNCTION bool wait_until(const Team& team, const std::uint64_t* word, std::uint64_t value) const {
    return detail::wait_until(team, {word, value}, timeout_ns_);
  }

  /// Below the public interface: one command, by one item.
  KOKKOS_FUNCTION bool enqueue(detail::Command command, bool waits) const {
    const std::uint64_t number = producer_->written + 1;
    if (!wait_for_room(number)) return false;
    detail::Command& slot = slots_[(number - 1) % capacity_];
    command.is_blocking = waits ? 1 : 0;
    slot.describe(command);
    // Either publishes to the service thread: the descriptor, and all that the team stored before.
    if (is_fetched_) {
      detail::release_word(producer_->written, number);
    } else {
      detail::release_word(slot.ready, number);
      producer_->written = number;
    }
    // Acquires from the service thread: this command is complete, and what a get has loaded.
    return !waits || detail::poll_until(detail::HasReached{read_, number}, timeout_ns_);
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t offset_of(const void* address) const {
    return reinterpret_cast<std::uint64_t>(address) - window_;
  }
  [[nodiscard]] KOKKOS_FUNCTION detail::Command transfer(detail::CommandKind kind, const void* remote,
                                                         const void* local, std::uint64_t bytes,
                                                         int rank) const {
    detail::Command command;
    command.kind = kind;
    command.rank = rank;
    command.offset = offset_of(remote);
    command.bytes = bytes;
    command.payload = reinterpret_cast<std::uint64_t>(local);
    command.arrival = detail::no_arrival;
    return command;
  }

  template <class Team>
  KOKKOS_FUNCTION bool issue(const Team& team, detail::Command command, bool waits) const {
    team.team_barrier();
    bool done = false;
    Kokkos::single(
        Kokkos::PerTeam(team), [&](bool& issued) { issued = enqueue(command, waits); }, done);
    if (waits) team.team_barrier();
    return done;
  }

  [[nodiscard]] KOKKOS_FUNCTION bool wait_for_room(std::uint64_t number) const {
    if (number - producer_->known_read <= capacity_) return true;
    const bool has_room = detail::poll_until(
        // Acquires that the service thread has read the slot that is to be overwritten.
        [&] {
          producer_->known_read = detail::acquire_word(*read_);
          return number - producer_->known_read <= capacity_;
        },
        timeout_ns_);
    return has_room;
  }

  detail::CommandProducer* producer_;
  detail::Command* slots_;
  const std::uint64_t* read_;
  std::uint64_t capacity_;
  std::uint64_t timeout_ns_;
  std::uint64_t window_;
  bool is_fetched_;
};

KOKKOS_INLINE_FUNCTION CommandPort::Ring CommandPort::ring(int number) const {
  return {producers + number,
          slots + number * capacity,
          read + number * words_per_line,
          capacity,
          timeout_ns,
          window,
          is_fetched};
}

}  // namespace selvage
