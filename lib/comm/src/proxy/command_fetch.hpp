#pragma once

#include "proxy/copies/copier.hpp"

#include <selvage/comm/command_port.hpp>
#include <selvage/comm/detail/executor.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace selvage::detail {

/// Copies the slots of rings in GPU memory to the host. It first copies how many commands each ring has received
/// (CommandProducer::written). Once it has seen a count grow, it copies the new slots, which are complete by then. The copies run on a
/// stream of their own, so they wait for no kernel. Used by one service thread.
class CommandFetch {
 public:
  /// \param producers, slots  of all rings, in GPU memory
  /// \param kept  kept_bytes() of page-locked host memory, zeroed
  CommandFetch(const CommandProducer* producers, const Command* slots, int rings, std::uint64_t capacity,
               std::byte* kept, std::unique_ptr<Copier> copier);

  [[nodiscard]] static std::size_t kept_bytes(int rings, std::uint64_t capacity);
  /// A ring that this thread serves.
  void add(int ring);
  /// Never blocks. \return whether slots have come or are coming \throws Error{cuda}
  bool progress();
  /// Waits until everything that kernels have written before this call has been fetched. Needs no running kernel.
  /// \throws Error{cuda}, Error{timeout}
  void catch_up(std::chrono::milliseconds longest);
  /// The last call. \return false when copies may still read the rings and write to `kept`: both must then never be freed
  [[nodiscard]] bool end(std::chrono::milliseconds longest) noexcept;

  /// The fetched slots of a ring.
  [[nodiscard]] const Command* slots(int ring) const { return kept_slots_ + ring * capacity_; }
  /// How many commands of a ring have been fetched.
  [[nodiscard]] std::uint64_t fetched(int ring) const { return fetched_[ring]; }

 private:
  enum class State { idle, counting, fetching };

  void count();
  bool fetch();
  void copy_slots(int ring, std::uint64_t begin, std::uint64_t end);

  const CommandProducer* producers_;
  const Command* slots_;
  std::uint64_t capacity_;
  Command* kept_slots_;
  CommandProducer* kept_producers_;
  std::vector<int> served_;
  std::vector<std::uint64_t> fetched_;  ///< by ring
  std::vector<std::uint64_t> coming_;   ///< by ring: fetched, or being fetched
  std::unique_ptr<Copier> copier_;
  std::uint64_t ticket_ = 0;
  State state_ = State::idle;
  bool is_late_ = false;  ///< catch_up() has timed out
};

}  // namespace selvage::detail
