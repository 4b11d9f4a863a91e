#pragma once

#include "command_queue.hpp"
#include "message_port.hpp"
#include "trigger_engine.hpp"

#include <selvage/comm/options.hpp>

#include <memory>
#include <vector>

namespace selvage::detail {

/// The rings between a plan's MessagePort and the proxy: messages to be started go one way, their completions the other.
class ProxyChannel {
 public:
  /// \param initiation  kernel: all messages are registered for all epochs; queue: none is
  ProxyChannel(ContextState& context, const Executor& executor, Initiation initiation,
               std::vector<PlannedMessage> messages);

  [[nodiscard]] const std::vector<PlannedMessage>& messages() const { return messages_; }
  /// The port for kernels of the executor; only its `messages` points to host memory.
  [[nodiscard]] const MessagePort& port() const { return port_; }

  /// On hosts: the calling thread starts the messages.
  void start(const MessageSelection& selection) const;
  /// Runs one round of the proxy where it has no thread. \throws the errors of the proxy
  void progress();
  /// From now on the proxy starts no message of this channel. \return whether none is underway
  [[nodiscard]] bool stop();

 private:
  std::vector<PlannedMessage> messages_;
  std::unique_ptr<TriggerEngine> engine_;
  std::unique_ptr<CommandRings> rings_;
  Buffer uses_;
  Buffer completed_;
  MessagePort port_;
};

}  // namespace selvage::detail
