#pragma once

#include "command_queue.hpp"
#include "message_port.hpp"
#include "trigger_engine.hpp"

#include <selvage/comm/options.hpp>

#include <memory>
#include <vector>

namespace selvage::detail {

/// Takes a plan's messages to the proxy, and their completion back: the rings behind a MessagePort.
class ProxyChannel {
 public:
  /// \param initiation  kernel: all messages are registered for all epochs; queue: none is
  ProxyChannel(ContextState& context, const Executor& executor, Initiation initiation,
               std::vector<PlannedMessage> messages);

  [[nodiscard]] const std::vector<PlannedMessage>& messages() const { return messages_; }
  /// For kernels of the executor, except that `messages` points to host memory.
  [[nodiscard]] const MessagePort& port() const { return port_; }

  /// On hosts: by the calling thread.
  void start(const MessageSelection& selection) const;
  /// One round of the proxy, where it has no thread. \throws what the proxy met
  void progress();
  /// The proxy starts nothing of it from now on. \return whether nothing is underway
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
