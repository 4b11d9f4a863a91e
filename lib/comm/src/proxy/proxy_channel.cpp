#include "proxy_channel.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace selvage::detail {
namespace {

NetworkOperation message_operation(const Command& command, MemoryKind memory) {
  return {.kind = command.kind == CommandKind::send ? NetworkOperation::Kind::send
                                                    : NetworkOperation::Kind::receive,
          .target = command.rank,
          .local = reinterpret_cast<std::byte*>(command.payload),
          .bytes = command.bytes,
          .message_tag = static_cast<int>(command.offset),
          .remote = reinterpret_cast<std::byte*>(command.remote),
          .own_flag = reinterpret_cast<std::uint64_t*>(command.own_flag),
          .peer_flag = reinterpret_cast<std::uint64_t*>(command.peer_flag),
          .memory = memory};
}

}  // namespace

ProxyChannel::ProxyChannel(ContextState& context, const Executor& executor, Initiation initiation,
                           std::vector<PlannedMessage> messages)
    : messages_(std::move(messages)) {
  const std::size_t count = std::max<std::size_t>(1, messages_.size());
  // Large enough for all messages at once: without a thread no ring is emptied while it is filled.
  const std::uint64_t capacity = std::bit_ceil(count);
  const MemoryKind memory = executor.runs_on_host() ? MemoryKind::host : MemoryKind::device;
  port_.has_queue = initiation == Initiation::queue;
  port_.messages = messages_.data();
  port_.count = static_cast<std::uint32_t>(messages_.size());
  uses_ = executor.allocate_zeroed(count * sizeof(std::uint64_t));
  port_.uses = reinterpret_cast<std::uint64_t*>(uses_.data);
  if (port_.has_queue) {
    const std::size_t bytes = count * TriggerPort::words_per_line * sizeof(std::uint64_t);
    completed_ = executor.allocate_staging(bytes);
    std::memset(completed_.data, 0, bytes);
    port_.completed = reinterpret_cast<std::uint64_t*>(completed_.data);
    rings_ = std::make_unique<CommandRings>(
        context, executor, CommandRings::Sizes{.capacity = capacity, .message_memory = memory}, nullptr);
    port_.commands = rings_->port();
    return;
  }
  engine_ = std::make_unique<TriggerEngine>(context, executor, static_cast<std::uint32_t>(count), capacity,
                                            proxy_of(context).make_message_sender(memory));
  port_.triggers = engine_->port();
  port_.completed = port_.triggers.completed;
  std::vector<NetworkOperation> operations;
  for (const PlannedMessage& message : messages_)
    operations.push_back(message_operation(message.command, memory));
  engine_->add_for_all_epochs(0, operations, 1);
}

void ProxyChannel::start(const MessageSelection& selection) const {
  for (std::uint32_t message = 0; message < port_.count; ++message) {
    if (selection.has(messages_[message])) port_.start(message);
  }
}

void ProxyChannel::progress() {
  if (engine_) {
    engine_->progress();
    engine_->check();
  } else {
    rings_->progress();
    rings_->check();
  }
}

bool ProxyChannel::stop() {
  return engine_ ? engine_->stop() : rings_->stop();
}

}  // namespace selvage::detail
