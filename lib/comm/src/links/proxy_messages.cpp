#include "proxy_messages.hpp"

#include "runtime/context_state.hpp"
#include "runtime/kokkos_runtime.hpp"

#include <fmt/format.h>

#include <utility>

namespace selvage::detail {
namespace {

/// One field of a block as a message.
Command message_of(const PackedBlock& block, std::size_t field, CommandKind kind) {
  Command command;
  command.kind = kind;
  command.bytes = static_cast<std::uint64_t>(block.field_bytes(field));
  command.payload = reinterpret_cast<std::uint64_t>(block.packed.data + block.field_begin(field));
  return command;
}

}  // namespace

ProxyMessages::ProxyMessages(const MessageParts& parts, std::vector<PackedPeer> peers)
    : context_(parts.context), carrier_(parts.carrier), peers_(std::move(peers)) {
  if (carrier_ == Wire::mapped) mapped_ = std::make_unique<MappedMessages>(parts, peers_);
  std::vector<PlannedMessage> messages = plan_messages(parts);
  is_delivered_.resize(messages.size());
  line_ =
      std::make_unique<ProxyChannel>(parts.context, parts.executor, parts.initiation, std::move(messages));
  if (!parts.executor.runs_on_host()) device_channel_ = make_device_channel(parts.context, *line_);
}

ProxyMessages::~ProxyMessages() {
  unmap();
}

/// Memory that kernels, the proxy or MPI still use after a timeout is never freed.
void ProxyMessages::unmap() noexcept {
  if (!line_) return;
  const bool has_drained = !device_channel_ || device_channel_->drain(context_.timeout());
  const bool is_idle = line_->stop();
  if (!has_drained) {
    context_.mark_broken();
    static_cast<void>(device_channel_.release());
    static_cast<void>(line_.release());
  }
  device_channel_.reset();
  line_.reset();
  if (is_idle && has_drained) {
    mapped_.reset();
    return;
  }
  static_cast<void>(mapped_.release());
  static_cast<void>(new std::vector<PackedPeer>(std::move(peers_)));
}

/// Makes the messages of each peer and field: sent and received, forward and in reverse, without those of no bytes.
std::vector<PlannedMessage> ProxyMessages::plan_messages(const MessageParts& parts) const {
  std::vector<PlannedMessage> messages;
  for (std::uint32_t index = 0; index < peers_.size(); ++index) {
    const PackedPeer& peer = peers_[index];
    for (std::size_t field = 0; field < parts.fields; ++field) {
      for (const bool reverse : {false, true}) {
        if (reverse && !parts.reverses) continue;
        for (const CommandKind kind : {CommandKind::receive, CommandKind::send}) {
          const PackedBlock& block =
              kind == CommandKind::send ? peer.outgoing(reverse) : peer.incoming(reverse);
          if (block.field_bytes(field) == 0) continue;
          PlannedMessage message{
              .field = static_cast<std::uint32_t>(field), .reverse = reverse ? 1U : 0U, .peer = index};
          message.command = message_of(block, field, kind);
          message.command.rank = peer.rank;
          message.command.offset = static_cast<std::uint64_t>(parts.first_tag) + field;
          if (mapped_) mapped_->address(message, block);
          messages.push_back(message);
        }
      }
    }
  }
  return messages;
}

void ProxyMessages::start_messages(const Step& step, CommandKind kind) {
  const MessageSelection selection{step.fields, step.reverse, kind};
  if (device_channel_) {
    device_channel_->start(step.executor, selection);
  } else {
    line_->start(selection);
  }
}

void ProxyMessages::start(const Step& step) {
  check();
  is_delivered_.assign(is_delivered_.size(), false);
  start_messages(step, CommandKind::receive);
  pack(step);
  start_messages(step, CommandKind::send);
}

void ProxyMessages::pack(const Step& step) {
  const ProfilingRegion region("comm::pack");
  for (const PackedPeer& peer : peers_) {
    const PackedBlock& block = peer.outgoing(step.reverse);
    for (std::size_t field = 0; field < block.pack.size(); ++field) {
      if (step.has(field)) block.pack[field]->enqueue(step.executor);
    }
  }
}

void ProxyMessages::deliver(const Step& step, std::uint32_t message) {
  const PackedBlock& block = peers_[line_->messages()[message].peer].incoming(step.reverse);
  const std::size_t field = line_->messages()[message].field;
  const ProfilingRegion region("comm::unpack");
  if (!step.reverse) block.unpack[field]->enqueue(step.executor);
}

bool ProxyMessages::progress(const Step& step) {
  if (device_channel_) return progress_on_device(step);
  line_->progress();
  bool done = true;
  const auto& messages = line_->messages();
  for (std::uint32_t i = 0; i < messages.size(); ++i) {
    const bool sent = MessageSelection{step.fields, step.reverse, CommandKind::send}.has(messages[i]);
    const bool received = MessageSelection{step.fields, step.reverse, CommandKind::receive}.has(messages[i]);
    if ((!sent && !received) || is_delivered_[i]) continue;
    // Acquires from the proxy: what the message brought, or that its buffer is free.
    if (!line_->port().is_complete(i)) {
      done = false;
      continue;
    }
    if (received) deliver(step, i);
    is_delivered_[i] = true;
  }
  if (done) completed_epoch_ = step.epoch;
  return done;
}

bool ProxyMessages::progress_on_device(const Step& step) {
  if (waits_enqueued_ == step.epoch) return true;
  waits_enqueued_ = step.epoch;
  const MessageSelection received{step.fields, step.reverse, CommandKind::receive};
  device_channel_->wait(step.executor, received);
  for (std::uint32_t i = 0; i < line_->messages().size(); ++i) {
    if (received.has(line_->messages()[i])) deliver(step, i);
  }
  // The next exchange packs into the same blocks.
  device_channel_->wait(step.executor, {step.fields, step.reverse, CommandKind::send});
  return true;
}

void ProxyMessages::append_contributions(std::size_t field, std::vector<Contribution>& contributions) const {
  for (const PackedPeer& peer : peers_) {
    contributions.insert(contributions.end(), peer.contributions[field].begin(),
                         peer.contributions[field].end());
  }
}

void ProxyMessages::check() const {
  line_->progress();
  if (device_channel_) device_channel_->check();
}

std::string ProxyMessages::describe_late(const Step& step) const {
  std::string late;
  const auto& messages = line_->messages();
  for (std::uint32_t i = 0; i < messages.size(); ++i) {
    const CommandKind kind = messages[i].command.kind;
    if (!MessageSelection{step.fields, step.reverse, kind}.has(messages[i]) || is_delivered_[i]) continue;
    late += fmt::format("{}rank {} ({}, {} by proxy of epoch {} wanted, {} seen)", late.empty() ? "" : ", ",
                        messages[i].command.rank, carrier_ == Wire::mapped ? "peer transport" : "MPI",
                        kind == CommandKind::send ? "acceptance" : "message", step.epoch, completed_epoch_);
  }
  return late;
}

}  // namespace selvage::detail
