#include "trigger_table.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace selvage::detail {
namespace {

/// The 64-bit epoch next to `near` whose lowest 16 bits are `low`.
std::uint64_t whole_epoch(std::uint32_t low, std::uint64_t near) {
  const auto ahead = static_cast<std::int16_t>(static_cast<std::uint16_t>(low - near));
  return near + static_cast<std::uint64_t>(static_cast<std::int64_t>(ahead));
}

bool is_older(std::uint64_t epoch, std::uint64_t than) {
  return static_cast<std::int64_t>(epoch - than) < 0;
}

}  // namespace

TriggerTable::Slot& TriggerTable::slot_of(std::uint32_t id) {
  if (id < slots_.size()) return slots_[id];
  throw Error(ErrorKind::usage, fmt::format("trigger id {}: there are {}", id, slots_.size()));
}

/// Resets `entry` for `epoch`, if it is still that of an older epoch, whose operations must be complete.
void TriggerTable::begin_epoch(const Slot& slot, std::uint32_t id, std::uint64_t epoch, Entry& entry) const {
  if (entry.state != Entry::State::free && entry.epoch == epoch) return;
  if (entry.state == Entry::State::orphan || entry.state == Entry::State::live) {
    throw Error(ErrorKind::usage,
                fmt::format("trigger {} of epoch {}: that of epoch {} has not fired ({} of {} triggers), and "
                            "{} epochs may be in flight",
                            id, epoch, entry.epoch, entry.counter,
                            entry.state == Entry::State::live ? fmt::to_string(entry.threshold) : "unknown",
                            epochs_in_flight));
  }
  entry = Entry{};
  entry.epoch = epoch;
  entry.state = slot.for_all_epochs ? Entry::State::live : Entry::State::orphan;
  if (slot.for_all_epochs) entry.operation = *slot.for_all_epochs;
  entry.threshold = slot.threshold;
}

std::optional<TriggerTable::Fired> TriggerTable::fire_if_ready(TriggerPort::Tag tag, Entry& entry) {
  if (entry.state != Entry::State::live || entry.counter < entry.threshold) return std::nullopt;
  NetworkOperation operation = entry.operation;
  if (entry.length) {
    const std::uint64_t bytes = *entry.length * operation.unit_bytes;
    if (bytes > operation.bytes) {
      throw Error(
          ErrorKind::usage,
          fmt::format("trigger {} of epoch {}: kernels supplied a length of {} bytes, {} are registered",
                      tag.id, entry.epoch, bytes, operation.bytes));
    }
    operation.bytes = bytes;
  }
  if (entry.target) operation.target = *entry.target;
  entry.state = Entry::State::fired;
  return Fired{{tag.id, entry.epoch}, operation};
}

std::optional<TriggerTable::Fired> TriggerTable::add(TriggerPort::Tag tag, const NetworkOperation& operation,
                                                     std::uint64_t threshold) {
  Slot& slot = slot_of(tag.id);
  Entry& entry = slot.entries[tag.epoch % epochs_in_flight];
  const bool is_in_use = entry.state == Entry::State::live || entry.state == Entry::State::fired;
  if (slot.for_all_epochs || (is_in_use && !is_older(entry.epoch, tag.epoch))) {
    throw Error(ErrorKind::usage,
                fmt::format("trigger {} of epoch {} is registered already", tag.id, tag.epoch));
  }
  begin_epoch(slot, tag.id, tag.epoch, entry);
  if (is_older(slot.newest_epoch, tag.epoch)) slot.newest_epoch = tag.epoch;
  entry.state = Entry::State::live;
  entry.operation = operation;
  entry.threshold = threshold;
  return fire_if_ready(tag, entry);
}

std::vector<TriggerTable::Fired> TriggerTable::add_for_all_epochs(std::uint32_t id,
                                                                  const NetworkOperation& operation,
                                                                  std::uint64_t threshold) {
  Slot& slot = slot_of(id);
  if (slot.for_all_epochs) throw Error(ErrorKind::usage, fmt::format("trigger {} is registered already", id));
  slot.for_all_epochs = operation;
  slot.threshold = threshold;
  std::vector<Fired> fired;
  for (Entry& entry : slot.entries) {
    if (entry.state != Entry::State::orphan) continue;
    entry.state = Entry::State::live;
    entry.operation = operation;
    entry.threshold = threshold;
    if (auto ready = fire_if_ready({id, entry.epoch}, entry)) fired.push_back(*ready);
  }
  std::ranges::sort(fired, is_older, [](const Fired& ready) { return ready.tag.epoch; });
  return fired;
}

void TriggerTable::supply(const TriggerWord& word, Entry& entry) {
  entry.counter += word.kind == TriggerKind::count ? word.argument : 1;
  if (word.kind == TriggerKind::length) entry.length = entry.length.value_or(0) + word.argument;
  if (word.kind == TriggerKind::target) entry.target = static_cast<int>(word.argument);
}

std::optional<TriggerTable::Fired> TriggerTable::count(const TriggerWord& word) {
  Slot& slot = slot_of(word.id);
  const std::uint64_t epoch = whole_epoch(word.epoch, slot.newest_epoch);
  Entry& entry = slot.entries[epoch % epochs_in_flight];
  const bool is_past = entry.state != Entry::State::free && is_older(epoch, entry.epoch);
  if (is_past || (entry.state == Entry::State::fired && entry.epoch == epoch)) {
    surplus_ += word.kind == TriggerKind::count ? word.argument : 1;
    return std::nullopt;
  }
  begin_epoch(slot, word.id, epoch, entry);
  if (is_older(slot.newest_epoch, epoch)) slot.newest_epoch = epoch;
  supply(word, entry);
  return fire_if_ready({word.id, epoch}, entry);
}

TriggerTable::Leftovers TriggerTable::leftovers() const {
  Leftovers result{.surplus = surplus_, .orphaned = 0, .unfinished = 0};
  for (const Slot& slot : slots_) {
    for (const Entry& entry : slot.entries) {
      if (entry.state == Entry::State::orphan) result.orphaned += entry.counter;
      if (entry.state == Entry::State::live && entry.counter > 0) ++result.unfinished;
    }
  }
  return result;
}

}  // namespace selvage::detail
