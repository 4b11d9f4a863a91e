#include "command_queue.hpp"

#include "runtime/environment_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace selvage::detail {
namespace {

/// The largest number of commands taken from one ring before the next ring is served.
constexpr int commands_per_turn = 8;

bool lie_on_device(const std::optional<bool>& forced) {
  return forced ? *forced : slots_on_device_from_environment().value_or(false);
}

/// The value of the arrival counter, or of the flags of a message.
std::uint64_t value_of(const Command& command) {
  return command.kind == CommandKind::put_value ? command.payload : command.arrival_value;
}

bool is_message(CommandKind kind) {
  return kind == CommandKind::send || kind == CommandKind::receive || kind == CommandKind::receive_up_to;
}
NetworkOperation::Kind message_kind(CommandKind kind) {
  if (kind == CommandKind::send) return NetworkOperation::Kind::send;
  return kind == CommandKind::receive ? NetworkOperation::Kind::receive
                                      : NetworkOperation::Kind::receive_up_to;
}

}  // namespace

void CommandService::add(int ring, const Command* slots, std::uint64_t* read) {
  if (fetch_) {
    fetch_->add(ring);
    slots = fetch_->slots(ring);
  }
  rings_.push_back({.index = ring, .slots = slots, .read = read});
}

bool CommandService::has_next(const CommandRing& ring, const Command& slot) const {
  if (fetch_) return has_reached(fetch_->fetched(ring.index), ring.done + 1);
  // Acquires from the team's leader: the descriptor, and what the team stored before.
  return has_reached(acquire_word(slot.ready), ring.done + 1);
}

/// Ends the team's wait for a transfer that failed; the error is already kept for the host.
void CommandService::conclude_failed() {
  for (const std::size_t index : std::exchange(failed_, {})) {
    rings_[index].is_held = false;
    finish(rings_[index]);
  }
}

bool CommandService::poll() {
  conclude_failed();
  bool busy = fetch_ && fetch_->progress();
  for (std::size_t i = 0; i < rings_.size(); ++i) busy = serve(i) || busy;
  return sender_->progress() || busy;
}

/// \return whether a command was taken
bool CommandService::serve(std::size_t index) {
  int taken = 0;
  for (; taken < commands_per_turn; ++taken) {
    CommandRing& ring = rings_[index];
    if (ring.is_held) break;
    const Command& slot = ring.slots[ring.done % capacity_];
    if (!has_next(ring, slot)) break;
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

NetworkOperation CommandService::operation_of(const Command& command) const {
  using Kind = NetworkOperation::Kind;
  NetworkOperation operation{.kind = command.kind == CommandKind::get ? Kind::get : Kind::put,
                             .target = command.rank,
                             .local = reinterpret_cast<std::byte*>(command.payload),
                             .bytes = command.bytes,
                             .offset = command.offset,
                             .arrival = command.arrival,
                             .window = window_};
  // A single word needs no buffer, and arrives as a whole.
  if (command.kind == CommandKind::put_value) operation.arrival = command.offset;
  if (is_message(command.kind)) {
    operation.kind = message_kind(command.kind);
    operation.message_tag = static_cast<int>(command.offset);
    operation.remote = reinterpret_cast<std::byte*>(command.remote);
    operation.own_flag = reinterpret_cast<std::uint64_t*>(command.own_flag);
    operation.peer_flag = reinterpret_cast<std::uint64_t*>(command.peer_flag);
    operation.memory = message_memory_;
  }
  return operation;
}

std::uint64_t CommandService::keep(const Underway& transfer) {
  if (free_cookies_.empty()) {
    underway_.push_back(transfer);
    return underway_.size() - 1;
  }
  const std::uint64_t cookie = free_cookies_.back();
  free_cookies_.pop_back();
  underway_[cookie] = transfer;
  return cookie;
}

void CommandService::start(const Command& command, std::size_t index) {
  CommandRing& ring = rings_[index];
  const NetworkOperation operation = operation_of(command);
  Underway transfer{index, command.is_blocking != 0};
  if (is_message(command.kind)) {
    transfer.done = reinterpret_cast<std::uint64_t*>(command.arrival);
    transfer.value = command.arrival_value;
  }
  const std::uint64_t cookie = keep(transfer);
  ++ring.underway;
  ring.is_held = transfer.is_blocking;
  try {
    sender_->start(operation, value_of(command), *this, cookie);
  } catch (const Error&) {
    free_cookies_.push_back(cookie);
    --ring.underway;
    ring.is_held = true;
    failed_.push_back(index);
    throw;
  }
  if (!transfer.is_blocking) finish(ring);
}

void CommandService::local_done(std::uint64_t cookie) {
  const Underway& transfer = underway_[cookie];
  // Publishes to kernels: the message's buffer may be overwritten (send) or has been filled (receive).
  if (transfer.done != nullptr) release_word(*transfer.done, transfer.value);
  if (!transfer.is_blocking) return;
  CommandRing& ring = rings_[transfer.ring];
  ring.is_held = false;
  finish(ring);
}

void CommandService::remote_done(std::uint64_t cookie) {
  --rings_[underway_[cookie].ring].underway;
  free_cookies_.push_back(cookie);
}

std::unique_ptr<ProxySender> CommandService::release(std::chrono::milliseconds longest) {
  if (!sender_->serves_windows()) return std::move(sender_);
  fetch_rest(longest);
  for (CommandRing& ring : rings_) {
    if (ring.is_held) finish(ring);
    while (has_next(ring, ring.slots[ring.done % capacity_])) {
      start_put(ring.slots[ring.done % capacity_]);
      finish(ring);
    }
  }
  return std::move(sender_);
}

void CommandService::fetch_rest(std::chrono::milliseconds longest) const {
  if (!fetch_) return;
  try {
    fetch_->catch_up(longest);
  } catch (const Error& error) {
    context_.log(error.what());
  }
}

void CommandService::start_put(const Command& command) {
  if (command.kind != CommandKind::put && command.kind != CommandKind::put_value) return;
  try {
    sender_->start(operation_of(command), value_of(command), *this, 0);
  } catch (const Error& error) {
    context_.log(error.what());
  }
}

void CommandRings::require_valid(const Sizes& sizes) {
  if (sizes.rings >= 1 && sizes.service_threads >= 1 && std::has_single_bit(sizes.capacity)) return;
  throw Error(ErrorKind::usage,
              fmt::format("a CommandQueue of {} rings of {} slots and {} service threads: at least 1, slots "
                          "a power of two",
                          sizes.rings, sizes.capacity, sizes.service_threads));
}

/// Message tags are taken before anything that can fail on one rank alone, so that all ranks take the same.
CommandRings::CommandRings(ContextState& context, const Executor& executor, const Sizes& sizes,
                           const WindowState* window)
    : context_(context), proxy_(proxy_of(context)) {
  require_valid(sizes);
  make_services(sizes, window);
  allocate(executor, sizes);
  port_.timeout_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(context_.timeout()).count());
  if (window != nullptr) port_.window = reinterpret_cast<std::uint64_t>(window->local.data);
  open_services(executor, sizes);
}

void CommandRings::make_services(const Sizes& sizes, const WindowState* window) {
  const MemoryKind memory = window != nullptr ? window->memory : sizes.message_memory;
  for (int i = 0; i < sizes.service_threads; ++i) {
    services_.push_back(std::make_unique<CommandService>(
        context_, window != nullptr ? window->id : CommandService::no_window,
        window != nullptr ? proxy_.make_sender(memory) : proxy_.make_message_sender(memory), sizes.capacity,
        sizes.message_memory));
  }
}

void CommandRings::allocate(const Executor& executor, const Sizes& sizes) {
  // Read on hosts too, so that errors in it are found there.
  const bool is_device = lie_on_device(sizes.slots_on_device);
  port_.is_fetched = is_device && !executor.runs_on_host();
  const std::uint64_t line_bytes = CommandPort::words_per_line * sizeof(std::uint64_t);
  const std::uint64_t slot_bytes = sizes.rings * sizes.capacity * sizeof(Command);
  const std::uint64_t host_bytes = sizes.rings * line_bytes + (port_.is_fetched ? 0 : slot_bytes);
  kernel_memory_ = executor.allocate_zeroed(sizes.rings * sizeof(CommandProducer));
  host_memory_ = executor.allocate_staging(host_bytes);
  std::memset(host_memory_.data, 0, host_bytes);
  if (port_.is_fetched) slots_ = executor.allocate_zeroed(slot_bytes);
  read_ = reinterpret_cast<std::uint64_t*>(host_memory_.data);
  std::byte* slots = port_.is_fetched ? slots_.data : host_memory_.data + sizes.rings * line_bytes;
  port_.producers = reinterpret_cast<CommandProducer*>(kernel_memory_.data);
  port_.slots = reinterpret_cast<Command*>(slots);
  port_.read = read_;
  port_.capacity = sizes.capacity;
}

void CommandRings::open_services(const Executor& executor, const Sizes& sizes) {
  for (const auto& service : services_) {
    if (!port_.is_fetched) break;
    const std::size_t bytes = CommandFetch::kept_bytes(sizes.rings, sizes.capacity);
    std::byte* kept = fetched_memory_.emplace_back(executor.allocate_staging(bytes)).data;
    std::memset(kept, 0, bytes);
    service->set_fetch(std::make_unique<CommandFetch>(port_.producers, port_.slots, sizes.rings,
                                                      sizes.capacity, kept,
                                                      make_device_copier(CopyLane::polled)));
  }
  for (int ring = 0; ring < sizes.rings; ++ring) {
    services_[ring % sizes.service_threads]->add(ring, port_.slots + ring * sizes.capacity,
                                                 read_ + ring * CommandPort::words_per_line);
  }
  // Starts its threads, which may fail, before any of them has a service.
  for (int i = 0; i < sizes.service_threads; ++i) static_cast<void>(proxy_.helper(i));
  for (int i = 0; i < sizes.service_threads; ++i) proxy_.helper(i).add(*services_[i]);
}

bool CommandRings::is_idle() {
  bool idle = true;
  for (std::size_t i = 0; i < services_.size(); ++i) {
    proxy_.helper(static_cast<int>(i)).exclusive([&] { idle = services_[i]->is_idle() && idle; });
  }
  return idle;
}

bool CommandRings::stop() {
  for (std::size_t i = 0; i < services_.size(); ++i) proxy_.helper(static_cast<int>(i)).remove(*services_[i]);
  return std::ranges::all_of(services_, &CommandService::is_idle);
}

CommandRings::~CommandRings() {
  bool has_ended = true;
  for (std::size_t i = 0; i < services_.size(); ++i) {
    proxy_.helper(static_cast<int>(i)).remove(*services_[i]);
    proxy_.drain(services_[i]->release(context_.timeout()));
    has_ended = services_[i]->end_fetch(context_.timeout()) && has_ended;
  }
  if (has_ended) return;
  // Copies may still read or write it.
  static_cast<void>(new std::array<Buffer, 2>{std::move(kernel_memory_), std::move(slots_)});
  static_cast<void>(new std::vector<Buffer>(std::move(fetched_memory_)));
}

}  // namespace selvage::detail
