#pragma once

#include <selvage/comm/detail/executor.hpp>
#include <selvage/comm/detail/trigger_port.hpp>

#include <chrono>
#include <cstdint>
#include <optional>

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

  /// The oldest trigger that has not been popped; nothing while there is none.
  [[nodiscard]] std::optional<TriggerWord> pop();
  /// Gives the slots of all popped triggers back. Only after what they started was accepted.
  void release_slots();
  /// Publishes to kernels: the operation of this tag is complete. Of epochs that share a word, in order.
  void complete(TriggerTag tag);
  /// Whether a kernel gave up waiting for room.
  [[nodiscard]] bool has_lost() const { return acquire_word(*port_.lost) != 0; }

 private:
  Memory memory_;
  TriggerPort port_;
  std::uint64_t* tail_;
  std::uint64_t* completed_;
  std::uint64_t next_ = 0;      ///< slot to pop
  std::uint64_t released_ = 0;  ///< what *tail_ says
};

}  // namespace selvage::detail
