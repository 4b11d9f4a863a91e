#pragma once

#include <selvage/comm/command_port.hpp>
#include <selvage/comm/trigger_port.hpp>

#include <cstdint>
#include <type_traits>

namespace selvage::detail {

/// A message of a plan: the command by which a kernel asks the proxy for it, and the exchanges that it belongs to.
struct PlannedMessage {
  Command command = {};  ///< send or receive
  std::uint32_t field = 0;
  std::uint32_t reverse = 0;
  std::uint32_t peer = 0;  ///< index among the plan's neighbours
};

/// Some of a plan's messages.
struct MessageSelection {
  std::uint64_t fields = 0;
  bool reverse = false;
  CommandKind kind = CommandKind::send;

  [[nodiscard]] KOKKOS_FUNCTION bool has(const PlannedMessage& message) const {
    return message.command.kind == kind && (message.reverse != 0) == reverse &&
           (fields >> message.field & 1) != 0;
  }
};

/// By which a kernel asks the proxy to start a plan's messages: by firing triggers that were registered before (initiation kernel), or
/// by writing commands (initiation queue). Each message counts its uses in memory of the kernel, so a captured graph can be replayed.
struct MessagePort {
  const PlannedMessage* messages = nullptr;
  std::uint64_t* uses = nullptr;  ///< by message; whoever starts messages alone
  const std::uint64_t* completed =
      nullptr;  ///< by TriggerPort::completed_index; host memory, written by the proxy
  std::uint32_t count = 0;
  bool has_queue = false;
  TriggerPort triggers;
  CommandPort commands;

  KOKKOS_FUNCTION void start(std::uint32_t message) const {
    const TriggerPort::Tag tag{message, ++uses[message]};
    if (!has_queue) {
      static_cast<void>(triggers.fire(tag));
      return;
    }
    Command command = messages[message].command;
    command.arrival = reinterpret_cast<std::uint64_t>(completed + TriggerPort::completed_index(tag));
    command.arrival_value = tag.epoch;
    static_cast<void>(commands.ring(0).enqueue(command, false));
  }

  /// Whether the proxy has finished the message's last use: it no longer reads the buffer (send), or has filled it (receive).
  [[nodiscard]] KOKKOS_FUNCTION bool is_complete(std::uint32_t message) const {
    const TriggerPort::Tag tag{message, uses[message]};
    return HasReached{completed + TriggerPort::completed_index(tag), tag.epoch}();
  }
};
static_assert(std::is_trivially_copyable_v<MessagePort> && sizeof(MessagePort) <= 256,
              "kernels take it by value");

}  // namespace selvage::detail
