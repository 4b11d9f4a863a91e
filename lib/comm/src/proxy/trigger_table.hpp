#pragma once

#include "network_operation.hpp"

#include <selvage/comm/trigger_port.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace selvage::detail {

/// The trigger list of GPU-TN (LeBeane, 6.1): counts triggers per tag and says when an operation is to start.
/// No threads, no MPI: the proxy feeds it.
///
/// Registering and triggering a tag may come in any order: a trigger for an unknown tag makes an orphan entry
/// that only counts, and registration takes its count over. We differ from the thesis in two ways. The epoch
/// is part of the tag, so that each tag fires exactly once and what comes after is counted as surplus. And an
/// operation may be registered once for all epochs, since a halo fires the same ones again and again.
///
/// Entries are found by index: id, then epoch modulo epochs_in_flight.
class TriggerTable {
 public:
  static constexpr std::uint64_t epochs_in_flight = TriggerPort::Tag::epochs_in_flight;

  struct Fired {
    TriggerPort::Tag tag;
    NetworkOperation operation;  ///< with the length and target that kernels supplied
  };
  /// What should be zero at the end of a correct program.
  struct Leftovers {
    std::uint64_t surplus = 0;     ///< triggers for tags that had fired
    std::uint64_t orphaned = 0;    ///< triggers for tags that were never registered
    std::uint64_t unfinished = 0;  ///< tags with some triggers, but fewer than their threshold
  };

  explicit TriggerTable(std::uint32_t ids) : slots_(ids) {}

  /// Registers one tag. \return what fires at once, because its triggers came before
  /// \throws Error{usage} for an id out of range, and for one whose entry is still in use
  [[nodiscard]] std::optional<Fired> add(TriggerPort::Tag tag, const NetworkOperation& operation,
                                         std::uint64_t threshold);
  /// Registers an id for all epochs. \return what fires at once, by ascending epoch
  [[nodiscard]] std::vector<Fired> add_for_all_epochs(std::uint32_t id, const NetworkOperation& operation,
                                                      std::uint64_t threshold);
  /// Counts one trigger. \return what it fires
  /// \throws Error{usage} when it can't be counted: an id out of range, more epochs than may be in flight, a
  ///         length beyond the registered one
  [[nodiscard]] std::optional<Fired> count(const TriggerWord& word);

  [[nodiscard]] Leftovers leftovers() const;

 private:
  struct Entry {
    enum class State { free, orphan, live, fired };
    State state = State::free;
    std::uint64_t epoch = 0;
    std::uint64_t counter = 0;
    std::uint64_t threshold = 0;
    NetworkOperation operation;
    std::optional<std::uint64_t> length;  ///< supplied by kernels, in units
    std::optional<int> target;            ///< likewise
  };
  struct Slot {
    std::array<Entry, epochs_in_flight> entries;
    std::uint64_t newest_epoch = 0;
    std::optional<NetworkOperation> for_all_epochs;
    std::uint64_t threshold = 0;
  };

  [[nodiscard]] Slot& slot_of(std::uint32_t id);
  void begin_epoch(const Slot& slot, std::uint32_t id, std::uint64_t epoch, Entry& entry) const;
  static void supply(const TriggerWord& word, Entry& entry);
  [[nodiscard]] static std::optional<Fired> fire_if_ready(TriggerPort::Tag tag, Entry& entry);

  std::vector<Slot> slots_;
  std::uint64_t surplus_ = 0;
};

}  // namespace selvage::detail
