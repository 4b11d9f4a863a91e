#include "command_queue.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace selvage::detail {
namespace {

/// Commands of one ring before the next has its turn.
constexpr int commands_per_turn = 8;

/// A transfer's cookie: its ring, and whether the ring waits for it.
std::uint64_t cookie_of(std::size_t ring, bool is_blocking) {
  return ring * 2 + (is_blocking ? 1 : 0);
}

}  // namespace

void CommandService::add(const Command* slots, std::uint64_t* read) {
  rings_.push_back({.slots = slots, .read = read});
}

bool CommandService::poll() {
  bool busy = false;
  for (std::size_t i = 0; i < rings_.size(); ++i) busy = serve(i) || busy;
  return courier_->progress() || busy;
}

/// \return whether a command was taken
bool CommandService::serve(std::size_t index) {
  int taken = 0;
  for (; taken < commands_per_turn; ++taken) {
    CommandRing& ring = rings_[index];
    if (ring.is_held) break;
    const Command& slot = ring.slots[ring.done % capacity_];
    // Acquires from the team's leader: the descriptor, and what the team stored before.
    if (!has_reached(acquire_word(slot.ready), ring.done + 1)) break;
    if (slot.kind == CommandKind::quiet) {
      if (ring.underway > 0) break;
      finish(ring);
    } else {
      start(slot, index);
    }
  }
  return taken > 0;
}

void CommandService::finish(CommandRing& ring) {
  ++ring.done;
  // Publishes to the team: the slot is free, and a blocking command complete, with what a get has loaded.
  release_word(*ring.read, ring.done);
}

void CommandService::start(const Command& command, std::size_t index) {
  CommandRing& ring = rings_[index];
  NetworkOperation operation{
      .kind = command.kind == CommandKind::get ? NetworkOperation::Kind::get : NetworkOperation::Kind::put,
      .target = command.rank,
      .local = reinterpret_cast<std::byte*>(command.payload),
      .bytes = command.bytes,
      .offset = command.offset,
      .arrival = command.arrival,
      .window = window_.id};
  std::uint64_t value = command.arrival_value;
  if (command.kind == CommandKind::put_value) {
    // Nothing but a word: it needs no buffer, and arrives whole.
    operation.arrival = command.offset;
    value = command.payload;
  }
  const bool is_blocking = command.is_blocking != 0;
  ++ring.underway;
  ring.is_held = is_blocking;
  try {
    courier_->start(operation, value, *this, cookie_of(index, is_blocking));
  } catch (const Error&) {
    // The team must not wait for what can't happen: the error is the host's to find.
    --ring.underway;
    ring.is_held = false;
    finish(ring);
    throw;
  }
  if (!is_blocking) finish(ring);
}

void CommandService::local_done(std::uint64_t cookie) {
  if (cookie % 2 == 0) return;
  CommandRing& ring = rings_[cookie / 2];
  ring.is_held = false;
  finish(ring);
}

void CommandService::remote_done(std::uint64_t cookie) {
  --rings_[cookie / 2].underway;
}

CommandRings::CommandRings(ContextState& context, const Executor& executor, const WindowState& window,
                           const Sizes& sizes)
    : proxy_(context.proxy()) {
  if (sizes.rings < 1 || sizes.service_threads < 1 || !std::has_single_bit(sizes.capacity)) {
    throw Error(
        ErrorKind::usage,
        fmt::format("a CommandQueue of {} rings of {} slots and {} service threads: at least 1, slots "
                    "a power of two",
                    sizes.rings, sizes.capacity, sizes.service_threads));
  }
  const std::uint64_t line_bytes = CommandPort::words_per_line * sizeof(std::uint64_t);
  const std::uint64_t slot_bytes = sizes.rings * sizes.capacity * sizeof(Command);
  const std::uint64_t host_bytes = slot_bytes + sizes.rings * line_bytes;
  kernel_memory_ = executor.allocate_zeroed(sizes.rings * sizeof(CommandProducer));
  host_memory_ = executor.allocate_staging(host_bytes);
  std::memset(host_memory_.data, 0, host_bytes);
  auto* read = reinterpret_cast<std::uint64_t*>(host_memory_.data + slot_bytes);
  port_.producers = reinterpret_cast<CommandProducer*>(kernel_memory_.data);
  port_.slots = reinterpret_cast<Command*>(host_memory_.data);
  port_.read = read;
  port_.capacity = sizes.capacity;
  port_.timeout_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(context.timeout()).count());
  port_.window = reinterpret_cast<std::uint64_t>(window.local.data);
  for (int i = 0; i < sizes.service_threads; ++i) {
    services_.push_back(std::make_unique<CommandService>(window, proxy_.make_courier(), sizes.capacity));
  }
  for (int ring = 0; ring < sizes.rings; ++ring) {
    services_[ring % sizes.service_threads]->add(port_.slots + ring * sizes.capacity,
                                                 read + ring * CommandPort::words_per_line);
  }
  for (int i = 0; i < sizes.service_threads; ++i) proxy_.helper(i).add(*services_[i]);
}

CommandRings::~CommandRings() {
  for (std::size_t i = 0; i < services_.size(); ++i) proxy_.helper(static_cast<int>(i)).remove(*services_[i]);
}

}  // namespace selvage::detail
