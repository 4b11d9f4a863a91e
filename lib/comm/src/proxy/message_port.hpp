#pragma once

#include <selvage/comm/detail/command_port.hpp>
#include <selvage/comm/detail/trigger_port.hpp>

#include <cstdint>
#include <type_traits>

namespace selvage::detail {

/// A message of a plan, as a kernel would describe it to the proxy, and when it is part of an exchange.
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

/// How a kernel has a plan's messages started by the proxy: by a trigger of what was registered (Initiation
/// kernel), or by a descriptor (queue). Each message counts its own uses in the kernel's memory, so that a
/// captured graph can be replayed.
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
    const TriggerTag tag{message, ++uses[message]};
    if (!has_queue) {
      static_cast<void>(triggers.fire(tag));
      return;
    }
    Command command = messages[message].command;
    command.arrival = reinterpret_cast<std::uint64_t>(completed + TriggerPort::completed_index(tag));
    command.arrival_value = tag.epoch;
    static_cast<void>(commands.context(0).enqueue(command, false));
  }

  /// Of its last use: the buffer has been let go of (send) or filled (receive).
  [[nodiscard]] KOKKOS_FUNCTION bool is_complete(std::uint32_t message) const {
    const TriggerTag tag{message, uses[message]};
    return HasReached{completed + TriggerPort::completed_index(tag), tag.epoch}();
  }
};
static_assert(std::is_trivially_copyable_v<MessagePort> && sizeof(MessagePort) <= 256,
              "kernels take it by value");

}  // namespace selvage::detail
