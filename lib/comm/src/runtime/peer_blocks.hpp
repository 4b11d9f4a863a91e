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

/// What every rank of a group keeps in one place for all the others: a block of memory each, mapped by all. Named by
/// place in the group.
class PeerBlocks {
 public:
  PeerBlocks() = default;
  /// Zeroed memory of this kind of executor. Collective over the context; only where a group's ranks can map each
  /// other's.
  /// \param group    ranks, this one among them; no rank is in two groups
  /// \param bytes    of this rank's block
  /// \param purpose  names the collective call in a timeout
  PeerBlocks(ContextState& context, const Executor& executor, std::span<const int> group, std::size_t bytes,
             std::string_view purpose);
  /// Memory that is there already; empty() where some rank's of the context can't be mapped. Collective.
  PeerBlocks(ContextState& context, std::byte* data, std::span<const int> group, std::size_t bytes,
             MemoryKind memory, std::string_view purpose);

  [[nodiscard]] bool empty() const { return blocks_.empty(); }
  [[nodiscard]] std::byte* of(int place) const { return blocks_[static_cast<std::size_t>(place)]; }

 private:
  void map(ContextState& context, std::span<const int> group, std::byte* own,
           const std::vector<SharedRange>& ranges, std::string_view purpose);

  Buffer own_;
  std::vector<std::byte*> blocks_;  ///< by place
  std::vector<std::shared_ptr<void>> mappings_;
};

}  // namespace selvage::detail
