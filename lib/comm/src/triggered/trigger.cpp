#include "gpu/make_on_device.hpp"
#include "proxy/command_queue.hpp"
#include "proxy/trigger_engine.hpp"

#include <selvage/comm/trigger.hpp>

#include <fmt/format.h>

#include <optional>

namespace selvage {
namespace detail {
namespace {

constexpr const char* triggers_construction = "the construction of Triggers";
constexpr const char* queue_construction = "the construction of a CommandQueue";

MemoryKind memory_of(const Executor& executor) {
  return executor.runs_on_host() ? MemoryKind::host : MemoryKind::device;
}

}  // namespace

struct TriggerOwner {
  TriggerOwner(std::shared_ptr<ContextState> shared, const Executor& executor,
               const Triggers::Options& options)
      : context(std::move(shared)) {
    context->all_or_none(triggers_construction, [&] { context->require_own_device(executor); });
    context->all_or_none(triggers_construction, [&] {
      // First the sender, which takes tags on all ranks.
      engine.emplace(*context, executor, options.ids, options.ring_entries,
                     proxy_of(*context).make_sender(memory_of(executor)));
    });
  }
  [[nodiscard]] int device() const { return context->device(); }

  std::shared_ptr<ContextState> context;
  std::optional<TriggerEngine> engine;
};

struct CommandOwner {
  CommandOwner(std::shared_ptr<ContextState> shared, const Executor& executor, const WindowState& window,
               const CommandRings::Sizes& sizes)
      : context(std::move(shared)) {
    context->all_or_none(queue_construction, [&] {
      context->require_own_device(executor);
      CommandRings::require_valid(sizes);
    });
    const auto threads = context->extremes({sizes.service_threads}, queue_construction).front();
    if (threads.smallest != threads.largest)
      throw Error(
          ErrorKind::usage,
          fmt::format("ranks give one CommandQueue different service_threads: {} on rank {}, {} on rank {}",
                      threads.smallest, threads.smallest_rank, threads.largest, threads.largest_rank));
    context->all_or_none(queue_construction, [&] { rings.emplace(*context, executor, sizes, &window); });
  }
  [[nodiscard]] int device() const { return context->device(); }

  std::shared_ptr<ContextState> context;
  std::optional<CommandRings> rings;
};

namespace {

NetworkOperation transfer_operation(const Triggers::Transfer& transfer) {
  if (transfer.window == nullptr) throw Error(ErrorKind::usage, "a Triggers::Transfer without a window");
  const WindowState& window = transfer.window->state();
  window.require_inside(transfer.offset, transfer.bytes);
  if (transfer.local == nullptr && transfer.bytes > 0)
    throw Error(ErrorKind::usage,
                fmt::format("a Triggers::Transfer of {} bytes without local memory", transfer.bytes));
  if (transfer.arrival) window.require_word(*transfer.arrival);
  return {.kind = transfer.kind == Triggers::Transfer::Kind::put ? NetworkOperation::Kind::put
                                                                 : NetworkOperation::Kind::get,
          .target = transfer.target,
          .local = static_cast<std::byte*>(transfer.local),
          .bytes = transfer.bytes,
          .unit_bytes = transfer.unit_bytes,
          .offset = transfer.offset,
          .arrival = transfer.arrival.value_or(NetworkOperation::no_arrival),
          .window = window.id};
}

}  // namespace
}  // namespace detail

Triggers::Triggers(const detail::Executor& executor, const Context& context, const Options& options)
    : owner_(detail::make_on_device<detail::TriggerOwner>(context.device(), context.state(), executor,
                                                          options)) {}
Triggers::Triggers(Triggers&&) noexcept = default;
Triggers& Triggers::operator=(Triggers&&) noexcept = default;
Triggers::~Triggers() = default;

void Triggers::add(TriggerPort::Tag tag, const Triggers::Transfer& transfer, std::uint64_t threshold) {
  const detail::DeviceScope scope(owner_->device());
  owner_->engine->add(tag, detail::transfer_operation(transfer), threshold);
}
void Triggers::add_for_all_epochs(std::uint32_t id, const Triggers::Transfer& transfer,
                                  std::uint64_t threshold) {
  const detail::DeviceScope scope(owner_->device());
  const detail::NetworkOperation operation = detail::transfer_operation(transfer);
  owner_->engine->add_for_all_epochs(id, {&operation, 1}, threshold);
}
TriggerPort Triggers::device() const {
  return owner_->engine->port();
}
bool Triggers::has_thread() const {
  return owner_->engine->has_thread();
}
void Triggers::progress() {
  const detail::DeviceScope scope(owner_->device());
  owner_->engine->progress();
}
void Triggers::check() {
  const detail::DeviceScope scope(owner_->device());
  owner_->engine->check();
}
Triggers::Leftovers Triggers::leftovers() {
  const detail::DeviceScope scope(owner_->device());
  const auto found = owner_->engine->leftovers();
  return {found.surplus, found.orphaned, found.unfinished};
}

CommandQueue::CommandQueue(const detail::Executor& executor, const Context& context, const Window& window,
                           const Options& options)
    : owner_(detail::make_on_device<detail::CommandOwner>(
          context.device(), context.state(), executor, window.state(),
          detail::CommandRings::Sizes{.rings = options.rings,
                                      .capacity = options.slots,
                                      .service_threads = options.service_threads,
                                      .slots_on_device = options.slots_on_device})) {}
CommandQueue::CommandQueue(CommandQueue&&) noexcept = default;
CommandQueue& CommandQueue::operator=(CommandQueue&&) noexcept = default;
CommandQueue::~CommandQueue() = default;

CommandPort CommandQueue::device() const {
  return owner_->rings->port();
}
bool CommandQueue::has_threads() const {
  return owner_->rings->has_threads();
}
void CommandQueue::progress() {
  const detail::DeviceScope scope(owner_->device());
  owner_->rings->progress();
}
void CommandQueue::check() {
  const detail::DeviceScope scope(owner_->device());
  owner_->rings->check();
}

}  // namespace selvage
