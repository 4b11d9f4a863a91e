#pragma once

#include "arena.hpp"

#include <selvage/comm/detail/executor.hpp>

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace selvage::detail {

class ContextState;

/// What every rank keeps in one place for all the others: a block of memory each, mapped by all ranks.
class PeerBlocks {
 public:
  PeerBlocks() = default;
  /// Zeroed memory of this kind of executor. Collective; only where all ranks can map each other's.
  /// \param bytes    of each block, the same on all ranks
  /// \param purpose  names the collective call in a timeout
  PeerBlocks(ContextState& context, const Executor& executor, std::size_t bytes, std::string_view purpose);
  /// Memory that is there already; empty() where some rank's can't be mapped. Collective.
  PeerBlocks(ContextState& context, std::byte* data, std::size_t bytes, MemoryKind memory,
             std::string_view purpose);

  [[nodiscard]] bool empty() const { return blocks_.empty(); }
  [[nodiscard]] std::byte* of(int rank) const { return blocks_[static_cast<std::size_t>(rank)]; }

 private:
  void map(ContextState& context, const std::vector<SharedRange>& ranges, std::string_view purpose);

  Buffer own_;
  std::vector<std::byte*> blocks_;  ///< by rank
  std::vector<std::shared_ptr<void>> mappings_;
};

}  // namespace selvage::detail
