#include "trigger_ring.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace selvage::detail {
namespace {

constexpr std::uint64_t line = TriggerPort::words_per_line;

}  // namespace

std::size_t TriggerRing::kernel_bytes() {
  return 2 * line * sizeof(std::uint64_t);
}

std::size_t TriggerRing::host_bytes(std::uint64_t capacity, std::uint32_t ids) {
  return (line + TriggerPort::most_losses + ids * line + capacity) * sizeof(std::uint64_t);
}

TriggerRing::Memory TriggerRing::allocate(const Executor& executor, std::uint64_t capacity,
                                          std::uint32_t ids) {
  Memory memory{executor.allocate_zeroed(kernel_bytes()),
                executor.allocate_staging(host_bytes(capacity, ids))};
  std::memset(memory.host.data, 0, host_bytes(capacity, ids));
  return memory;
}

TriggerRing::TriggerRing(Memory memory, std::uint64_t capacity, std::uint32_t ids,
                         std::chrono::milliseconds timeout)
    : memory_(std::move(memory)) {
  if (!std::has_single_bit(capacity)) {
    throw Error(ErrorKind::usage, fmt::format("a trigger ring of {} entries: not a power of two", capacity));
  }
  if (ids > TriggerWord::ids) {
    throw Error(ErrorKind::usage, fmt::format("{} trigger ids: at most {}", ids, TriggerWord::ids));
  }
  auto* kernel = reinterpret_cast<std::uint64_t*>(memory_.kernel.data);
  auto* host = reinterpret_cast<std::uint64_t*>(memory_.host.data);
  tail_ = host;
  completed_ = host + line + TriggerPort::most_losses;
  port_.head = kernel;
  port_.known_tail = kernel + line;
  port_.tail = tail_;
  port_.lost = host + line;
  port_.completed = completed_;
  port_.entries = completed_ + ids * line;
  port_.capacity = capacity;
  port_.timeout_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(timeout).count());
}

std::optional<TriggerWord> TriggerRing::pop() {
  do {
    // Acquires from the kernel that fired: the trigger, and its stores before.
    const std::uint64_t word = acquire_word(port_.entries[next_ % port_.capacity]);
    if (word >> 63 == lap_parity(next_, port_.capacity)) {
      ++next_;
      return TriggerWord::decode(word);
    }
    note_given_up();
  } while (pass_over_given_up());
  return std::nullopt;
}

void TriggerRing::note_given_up() {
  for (; noted_ < TriggerPort::most_losses; ++noted_) {
    // Acquires from the kernel that it will not write to the slot.
    const std::uint64_t slot = acquire_word(port_.lost[noted_]);
    if (slot == 0) return;
    given_up_.insert(slot - 1);
  }
}

bool TriggerRing::pass_over_given_up() {
  if (given_up_.erase(next_) == 0) return false;
  // The entry still has the parity of the last lap, which is also that of the next one, so its trigger would be seen again.
  // Nobody else writes to the slot until it is given back.
  release_word(port_.entries[next_ % port_.capacity], lap_parity(next_, port_.capacity) << 63);
  ++next_;
  return true;
}

TriggerRing::Losses TriggerRing::take_losses() {
  Losses losses;
  for (; told_ < TriggerPort::most_losses; ++told_) {
    // Publishes nothing but itself.
    const std::uint64_t slot = acquire_word(port_.lost[told_]);
    if (slot == 0) break;
    losses.first_slot = losses.count == 0 ? slot - 1 : std::min(losses.first_slot, slot - 1);
    ++losses.count;
  }
  losses.is_closed = told_ == TriggerPort::most_losses;
  return losses;
}

void TriggerRing::release_slots() {
  if (released_ == next_) return;
  released_ = next_;
  // Publishes to kernels: these entries have been read and may be overwritten.
  release_word(*tail_, released_);
}

void TriggerRing::complete(TriggerPort::Tag tag) {
  // Publishes to kernels: the buffer may be overwritten (put, send) or has been filled (get, receive).
  release_word(completed_[TriggerPort::completed_index(tag)], tag.epoch);
}

}  // namespace selvage::detail
