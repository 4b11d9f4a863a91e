#pragma once

#include <selvage/comm/command_port.hpp>
#include <selvage/comm/detail/polling.hpp>
#include <selvage/comm/detail/signal.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace selvage {

namespace detail {

/// Where what lies in the window of a RemoteTasks; the same on all ranks. Offsets in bytes.
struct TaskLayout {
  static constexpr std::uint64_t line = 128;

  std::uint64_t ranks = 0;
  std::uint64_t slots = 0;          ///< per pair of ranks and direction
  std::uint64_t payload_bytes = 0;  ///< of a call, at most

  /// Calls to `target` that it has finished; put by the target.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t finished(int target) const { return target * line; }
  /// Calls made to `target`; this rank's kernels alone.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t made(int target) const { return (ranks + target) * line; }
  /// Calls of `source` that kernels have run here; this rank's kernels alone.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t run(int source) const { return (2 * ranks + source) * line; }
  /// Calls of `source` that they have seen arrive; likewise.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t taken(int source) const {
    return run(source) + sizeof(std::uint64_t);
  }
  /// A slot: a line with the number of the call that has arrived in it, the packet, the payload.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t incoming(int source, std::uint64_t number) const {
    return 3 * ranks * line + (source * slots + (number - 1) % slots) * slot_bytes();
  }
  /// The like from which a call to `target` is put.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t outgoing(int target, std::uint64_t number) const {
    return incoming(static_cast<int>(ranks) + target, number);
  }
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t slot_bytes() const {
    return 2 * line + (payload_bytes + line - 1) / line * line;
  }
  [[nodiscard]] std::uint64_t bytes() const { return 3 * ranks * line + 2 * ranks * slots * slot_bytes(); }
};

/// What kernels have met, for the host to find, as one word: kind (from bit 56), rank (from 32), detail.
enum class TaskFault : std::uint64_t { none, late_target, late_source, no_such_task };
KOKKOS_INLINE_FUNCTION std::uint64_t encode(TaskFault fault, int rank, std::uint64_t detail) {
  return static_cast<std::uint64_t>(fault) << 56 | static_cast<std::uint64_t>(rank) << 32 |
         (detail & 0xffffffffU);
}

}  // namespace detail

/// A kernel's end of RemoteTasks: calls tasks on other ranks. Trivially copyable. One team at a time per target.
class TaskPort {
 public:
  /// Which task a message starts, and with what: XTQ's command packet without addresses (LeBeane, 4.1.3).
  struct Call {
    static constexpr int most_arguments = 8;

    std::uint32_t index = 0;  ///< below RemoteTasks::indices, the same for a task on all ranks
    std::uint64_t arguments[most_arguments] = {};
  };

  /// What a task is given where it runs.
  struct Message {
    int source = 0;  ///< the rank that has called
    Call call;
    const std::byte* payload = nullptr;  ///< in this rank's memory, aligned to 128 bytes, until the task ends
    std::uint64_t bytes = 0;
  };
  /// Below the public interface: a call as it travels, before its payload.
  struct alignas(128) Packet {
    std::uint64_t bytes = 0;
    Call call;
  };

  /// Starts a task at `target` with a copy of the payload; all of a team call it together. Waits only while all
  /// slots to that rank are in use. \param bytes  at most RemoteTasks::Options::payload_bytes
  /// \return false, on all items, when nobody made room within the time limit; RemoteTasks::check() throws then
  template <class Team>
  KOKKOS_FUNCTION bool call(const Team& team, int target, const Call& call, const void* payload,
                            std::uint64_t bytes) const {
    const std::uint64_t number = word(layout.made(target)) + 1;
    team.team_barrier();  // all have read what the leader is about to write
    if (number > layout.slots && !await_finished(team, target, number - layout.slots)) return false;
    std::byte* const packet = window + layout.outgoing(target, number) + detail::TaskLayout::line;
    copy_payload(team, packet + sizeof(Packet), static_cast<const std::byte*>(payload), bytes);
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      *reinterpret_cast<Packet*>(packet) = {bytes, call};
      word(layout.made(target)) = number;
    });
    std::byte* const slot = window + layout.incoming(rank, number);
    // The number publishes to the target: the packet and the payload.
    const bool issued = commands.ring(target).put_signal(
        team, slot + detail::TaskLayout::line, packet, sizeof(Packet) + bytes,
        reinterpret_cast<std::uint64_t*>(slot), number, target);
    if (!issued) report(team, detail::encode(detail::TaskFault::late_target, target, number));
    return issued;
  }

  /// Waits until all that was called at `target` has run there. \return as call()
  template <class Team>
  KOKKOS_FUNCTION bool wait(const Team& team, int target) const {
    return await_finished(team, target, word(layout.made(target)));
  }

  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t& word(std::uint64_t offset) const {
    return *reinterpret_cast<std::uint64_t*>(window + offset);
  }
  /// Below the public interface: what the host is to throw.
  KOKKOS_FUNCTION void report(std::uint64_t what) const { detail::release_word(*fault, what); }

  std::byte* window = nullptr;  ///< this rank's
  std::uint64_t* fault = nullptr;
  detail::TaskLayout layout;
  int rank = 0;
  CommandPort commands;  ///< a ring per target, then one per source

 private:
  template <class Team>
  KOKKOS_FUNCTION bool await_finished(const Team& team, int target, std::uint64_t number) const {
    // Acquires from the target that these calls' slots are free.
    const bool came = commands.ring(target).wait_until(team, &word(layout.finished(target)), number);
    if (!came) report(team, detail::encode(detail::TaskFault::late_target, target, number));
    return came;
  }
  template <class Team>
  KOKKOS_FUNCTION void report(const Team& team, std::uint64_t what) const {
    Kokkos::single(Kokkos::PerTeam(team), [&] { report(what); });
  }

  template <class Team>
  KOKKOS_FUNCTION static void copy_payload(const Team& team, std::byte* target, const std::byte* source,
                                           std::uint64_t bytes) {
    constexpr std::uint64_t unit = sizeof(std::uint64_t);
    const std::uint64_t units = reinterpret_cast<std::uint64_t>(source) % unit == 0 ? bytes / unit : 0;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, units), [&](std::uint64_t i) {
      reinterpret_cast<std::uint64_t*>(target)[i] = reinterpret_cast<const std::uint64_t*>(source)[i];
    });
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, units * unit, bytes),
                         [&](std::uint64_t i) { target[i] = source[i]; });
  }
};
static_assert(sizeof(TaskPort::Packet) == 128);
static_assert(std::is_trivially_copyable_v<TaskPort> && sizeof(TaskPort) <= 128, "kernels take it by value");

namespace detail {

/// Functors by coordinated index, as a kernel can keep them.
template <class... Tasks>
struct TaskList {
  template <class Team>
  KOKKOS_FUNCTION bool run(std::uint32_t, const Team&, const TaskPort::Message&) const {
    return false;
  }
};
template <class First, class... Rest>
struct TaskList<First, Rest...> {
  First first;
  TaskList<Rest...> rest;

  /// \return whether there is such a task
  template <class Team>
  KOKKOS_FUNCTION bool run(std::uint32_t index, const Team& team, const TaskPort::Message& message) const {
    if (index > 0) return rest.run(index - 1, team, message);
    first(team, message);
    return true;
  }
};
inline TaskList<> make_task_list() {
  return {};
}
template <class First, class... Rest>
TaskList<First, Rest...> make_task_list(const First& first, const Rest&... rest) {
  return {first, make_task_list(rest...)};
}

/// One team calls a task.
struct CallTask {
  TaskPort port;
  int target;
  TaskPort::Call call;
  const void* payload;
  std::uint64_t bytes;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    static_cast<void>(port.call(team, target, call, payload, bytes));
  }
};

/// One team waits for what was called.
struct AwaitTasks {
  TaskPort port;
  int target;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    static_cast<void>(port.wait(team, target));
  }
};

/// The next call of `source`, in three kernels: one item waits for it, a league runs it, a team says so.
struct NextTask {
  TaskPort port;
  int source;
  std::uint64_t timeout_ns;

  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t number() const {
    return port.word(port.layout.run(source)) + 1;
  }
  /// What the first kernel says to the others: a call that comes after its time limit is left to the next serve().
  [[nodiscard]] KOKKOS_FUNCTION bool is_taken() const {
    return port.word(port.layout.taken(source)) == number();
  }
};

struct AwaitCall : NextTask {
  KOKKOS_FUNCTION void operator()(int) const {
    // Acquires from the source, for the kernels behind this one: packet and payload.
    const HasReached arrival{&port.word(port.layout.incoming(source, number())), number()};
    if (poll_until(arrival, timeout_ns)) {
      port.word(port.layout.taken(source)) = number();
    } else {
      port.report(encode(TaskFault::late_source, source, number()));
    }
  }
};

template <class Tasks>
struct RunTask : NextTask {
  Tasks tasks;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (!is_taken()) return;
    const std::byte* const packet = port.window + port.layout.incoming(source, number()) + TaskLayout::line;
    const auto& came = *reinterpret_cast<const TaskPort::Packet*>(packet);
    const TaskPort::Message message{source, came.call, packet + sizeof(TaskPort::Packet), came.bytes};
    if (tasks.run(came.call.index, team, message) || team.league_rank() > 0) return;
    Kokkos::single(Kokkos::PerTeam(team),
                   [&] { port.report(encode(TaskFault::no_such_task, source, came.call.index)); });
  }
};

struct FinishTask : NextTask {
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const std::uint64_t finished = number();
    if (!is_taken()) return;
    team.team_barrier();  // all have read what the leader is about to write
    Kokkos::single(Kokkos::PerTeam(team), [&] { port.word(port.layout.run(source)) = finished; });
    // Publishes to the source: the task has run, its slot is free.
    const CommandPort::Ring ring = port.commands.ring(static_cast<int>(port.layout.ranks) + source);
    const bool issued = ring.put_value(team, &port.word(port.layout.finished(port.rank)), finished, source);
    if (issued) return;
    Kokkos::single(Kokkos::PerTeam(team),
                   [&] { port.report(encode(TaskFault::late_source, source, finished)); });
  }
};

}  // namespace detail
}  // namespace selvage
