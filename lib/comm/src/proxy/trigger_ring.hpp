#pragma once

#include <selvage/comm/detail/executor.hpp>
#include <selvage/comm/trigger_port.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>

namespace selvage::detail {

/// The memory of a ring and its only consumer. Kernels write entries (TriggerPort), the proxy reads them in
/// order and gives slots back by moving the tail; a full ring makes kernels wait, and nothing is overwritten.
class TriggerRing {
 public:
  /// Where its words lie: those of kernels in their memory, zeroed; the rest in host memory that both reach.
  struct Memory {
    Buffer kernel;
    Buffer host;
  };
  [[nodiscard]] static Memory allocate(const Executor& executor, std::uint64_t capacity, std::uint32_t ids);
  [[nodiscard]] static std::size_t kernel_bytes();
  [[nodiscard]] static std::size_t host_bytes(std::uint64_t capacity, std::uint32_t ids);

  /// \param capacity  entries, a power of two
  TriggerRing(Memory memory, std::uint64_t capacity, std::uint32_t ids, std::chrono::milliseconds timeout);

  [[nodiscard]] const TriggerPort& port() const { return port_; }

  /// The oldest trigger that has not been popped; nothing while there is none. Passes over slots that kernels have given up.
  [[nodiscard]] std::optional<TriggerWord> pop();
  /// Gives the slots of all popped triggers back. Only after what they started was accepted.
  void release_slots();
  /// Publishes to kernels: the operation of this tag is complete. Of epochs that share a word, in order.
  void complete(TriggerPort::Tag tag);
  /// Triggers for which a kernel has found no room in time.
  struct Losses {
    std::uint64_t count = 0;
    std::uint64_t first_slot = 0;  ///< counted from the ring's beginning, over all laps
    bool is_closed = false;        ///< so many so far that the ring refuses what finds it full
  };
  /// Since the last call. Of one thread, which needn't be the one that pops.
  [[nodiscard]] Losses take_losses();

 private:
  void note_given_up();
  bool pass_over_given_up();

  Memory memory_;
  TriggerPort port_;
  std::uint64_t* tail_;
  std::uint64_t* completed_;
  std::uint64_t next_ = 0;            ///< slot to pop
  std::uint64_t released_ = 0;        ///< what *tail_ says
  std::set<std::uint64_t> given_up_;  ///< slots from next_ on
  std::uint64_t noted_ = 0;           ///< losses that were put there
  std::uint64_t told_ = 0;            ///< losses that take_losses() has returned
};

}  // namespace selvage::detail
