#include "trigger_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace selvage::detail {
namespace {

constexpr int triggers_per_batch = 256;

}  // namespace

TriggerEngine::TriggerEngine(ContextState& context, const Executor& executor, std::uint32_t ids,
                             std::uint64_t ring_entries, std::unique_ptr<ProxySender> sender)
    : context_(context),
      proxy_(proxy_of(context)),
      ring_(TriggerRing::allocate(executor, ring_entries, ids), ring_entries, ids, context.timeout()),
      table_(ids),
      sender_(std::move(sender)),
      running_(ids) {
  proxy_.service().add(*this);
}

TriggerEngine::~TriggerEngine() {
  proxy_.service().remove(*this);
  if (sender_->serves_windows()) start_rest();
  proxy_.drain(std::move(sender_));
  const TriggerTable::Leftovers left = table_.leftovers();
  if (std::uncaught_exceptions() > 0) return;
  if (const auto losses = ring_.take_losses(); losses.count > 0) {
    context_.log(describe(losses));
  }
  if (left.surplus + left.orphaned + left.unfinished == 0) return;
  context_.log(
      fmt::format("rank {}: triggers left over: {} for tags that had fired, {} for tags never registered, {} "
                  "tags short of their threshold",
                  context_.rank(), left.surplus, left.orphaned, left.unfinished));
}

void TriggerEngine::add(TriggerPort::Tag tag, const NetworkOperation& operation, std::uint64_t threshold) {
  proxy_.service().exclusive([&] {
    if (const auto fired = table_.add(tag, operation, threshold)) enqueue(*fired);
  });
}

void TriggerEngine::add_for_all_epochs(std::uint32_t first_id, std::span<const NetworkOperation> operations,
                                       std::uint64_t threshold) {
  proxy_.service().exclusive([&] {
    std::uint32_t id = first_id;
    for (const NetworkOperation& operation : operations) {
      for (const auto& fired : table_.add_for_all_epochs(id++, operation, threshold)) enqueue(fired);
    }
  });
}

TriggerTable::Leftovers TriggerEngine::leftovers() {
  TriggerTable::Leftovers result;
  proxy_.service().exclusive([&] {
    while (drain()) continue;
    result = table_.leftovers();
  });
  return result;
}

/// Starts the operations whose triggers fired before the end, and those that waited for earlier operations of the same id; the sender
/// then keeps the order within each id.
void TriggerEngine::start_rest() {
  try {
    while (drain()) continue;
    for (const TriggerTable::Fired& fired : std::exchange(held_back_, {})) start(fired);
  } catch (const Error& error) {
    context_.log(error.what());
  }
}

bool TriggerEngine::stop() {
  proxy_.service().remove(*this);
  return sender_->is_idle();
}

void TriggerEngine::check() {
  proxy_.check();
  const TriggerRing::Losses losses = ring_.take_losses();
  if (losses.count > 0 || losses.is_closed) throw Error(ErrorKind::timeout, describe(losses));
}

std::string TriggerEngine::describe(const TriggerRing::Losses& losses) const {
  const TriggerPort& port = ring_.port();
  const std::string ring = fmt::format("the ring of {} entries for {} ids", port.capacity, running_.size());
  if (losses.count == 0) {
    return fmt::format("rank {}: {} has lost {} triggers of kernels and refuses what finds it full",
                       context_.rank(), ring, TriggerPort::most_losses);
  }
  return fmt::format(
      "rank {} lost {} of kernels, the first at slot {}: {} stayed full for {} ms{}", context_.rank(),
      losses.count == 1 ? "a trigger" : fmt::format("{} triggers", losses.count), losses.first_slot, ring,
      port.timeout_ns / 1'000'000, losses.is_closed ? ", too often: it refuses now what finds it full" : "");
}

void TriggerEngine::enqueue(const TriggerTable::Fired& fired) {
  if (running_[fired.tag.id] != 0) {
    held_back_.push_back(fired);
  } else {
    start(fired);
  }
}

void TriggerEngine::start(const TriggerTable::Fired& fired) {
  running_[fired.tag.id] = fired.tag.epoch;
  try {
    sender_->start(fired.operation, fired.tag.epoch, *this, fired.tag.id);
  } catch (const Error&) {
    failed_.push_back(fired.tag.id);
    throw;
  }
}

void TriggerEngine::local_done(std::uint64_t id) {
  ring_.complete({static_cast<std::uint32_t>(id), running_[id]});
  running_[id] = 0;
  const auto next = std::ranges::find(held_back_, id, [](const auto& fired) { return fired.tag.id; });
  if (next == held_back_.end()) return;
  const TriggerTable::Fired fired = *next;
  held_back_.erase(next);
  start(fired);
}

/// \return whether there was anything in the ring
bool TriggerEngine::drain() {
  int popped = 0;
  try {
    for (; popped < triggers_per_batch; ++popped) {
      const auto word = ring_.pop();
      if (!word) break;
      if (const auto fired = table_.count(*word)) enqueue(*fired);
    }
  } catch (const Error&) {
    ring_.release_slots();
    throw;
  }
  ring_.release_slots();
  return popped > 0;
}

/// Ends the waits of kernels and of later epochs for a transfer that failed; the error is already kept for the host.
void TriggerEngine::conclude_failed() {
  while (!failed_.empty()) {
    const std::uint32_t id = failed_.back();
    failed_.pop_back();
    local_done(id);
  }
}

bool TriggerEngine::poll() {
  conclude_failed();
  const bool drained = drain();
  return sender_->progress() || drained;
}

}  // namespace selvage::detail
