#pragma once

#include "runtime/context_state.hpp"
#include "runtime/peer_blocks.hpp"

#include <selvage/comm/detail/signal.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace selvage::detail {

/// The progress of each rank of a group, in steps, and memory of each rank that all can read and write. On hosts. Ranks are numbered by
/// their position in the group.
///
/// Steps are counted from 0 over the life of the object. Every rank has a flag per rank in its own block: that rank
/// alone writes it, its owner alone reads it.
class Lockstep {
 public:
  /// Collective over the context.
  /// \param group  the ranks that share a host, this one among them
  /// \param bytes  of this rank's memory
  Lockstep(ContextState& context, const Executor& executor, std::vector<int> group, std::size_t bytes,
           std::string_view purpose);

  /// The memory of this rank.
  [[nodiscard]] int place() const { return place_; }
  [[nodiscard]] int size() const { return static_cast<int>(group_.size()); }

  [[nodiscard]] std::byte* memory(int place) const { return blocks_.of(place) + flags_bytes_; }
  /// Publishes to all ranks what this rank has written in its steps before number `steps`.
  void publish(std::uint64_t steps) const;
  /// Whether all ranks have published so many steps. Acquires what they have written in them.
  [[nodiscard]] bool all_have_done(std::uint64_t steps) const;
  /// The ranks that have not, and how many steps each has published.
  [[nodiscard]] std::string describe_late(std::uint64_t steps) const;

  /// The same for one rank: for groups whose ranks don't all make the same steps.
  void publish_to(int peer, std::uint64_t steps) const { release_epoch(flag(place_, peer), steps); }
  [[nodiscard]] bool has_done(int peer, std::uint64_t steps) const {
    return has_reached(acquire_epoch(flag(peer, place_)), steps);
  }
  [[nodiscard]] std::string describe_late(int peer, std::uint64_t steps) const;

 private:
  [[nodiscard]] Flag& flag(int of, int at) const { return reinterpret_cast<Flag*>(blocks_.of(at))[of]; }

  std::vector<int> group_;
  int place_;
  std::size_t flags_bytes_;
  PeerBlocks blocks_;
};

}  // namespace selvage::detail
