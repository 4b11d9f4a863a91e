#pragma once

#include "memory/arena.hpp"

#include <selvage/comm/detail/executor.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace selvage::detail {

class ContextState;

/// One block of memory per rank of a group, which all ranks of the group map. Indexed by the rank's position in the group.
class PeerBlocks {
 public:
  PeerBlocks() = default;
  /// Allocates zeroed memory for executors of this kind. Collective over the context. The ranks of a group must be able to map each
  /// other's memory.
  /// \param group    ranks, this one among them; no rank is in two groups
  /// \param bytes    of this rank's block
  /// \param purpose  names the collective call in a timeout
  PeerBlocks(ContextState& context, const Executor& executor, std::span<const int> group, std::size_t bytes,
             std::string_view purpose);
  /// Shares memory that exists already. empty() on all ranks if that of any rank of the context can't be mapped. Collective.
  PeerBlocks(ContextState& context, std::byte* data, std::span<const int> group, std::size_t bytes,
             MemoryKind memory, std::string_view purpose);

  [[nodiscard]] bool empty() const { return blocks_.empty(); }
  [[nodiscard]] std::byte* of(int place) const { return blocks_[static_cast<std::size_t>(place)]; }

 private:
  void map(ContextState& context, std::span<const int> group, std::byte* own,
           const std::vector<SharedRange>& ranges, std::string_view purpose);

  Buffer own_;
  std::vector<std::byte*> blocks_;  ///< by position in the group
  std::vector<std::shared_ptr<void>> mappings_;
};

}  // namespace selvage::detail
