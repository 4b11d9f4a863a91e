#pragma once

#include "collectives/algorithms/allreduce_algorithm.hpp"
#include "runtime/context_state.hpp"
#include "runtime/peer_blocks.hpp"

#include <selvage/comm/detail/signal.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace selvage::detail {

/// What tiles are combined by. Their flags: [own tile][rank], in the memory of the rank that combines them. A rank's kernel
/// writes its flag of a tile; the tile's rank reads it; it publishes the elements of the tile.
struct TileParts {
  AllreduceParts allreduce;  ///< of the View
  std::int64_t tile_elements;
  PeerBlocks views;  ///< the View of each rank

  [[nodiscard]] std::int64_t tiles() const {
    return (allreduce.elements.count + tile_elements - 1) / tile_elements;
  }
  /// That a rank combines.
  [[nodiscard]] std::int64_t tiles_of(int rank) const {
    const std::int64_t ranks = allreduce.context.size();
    return (tiles() - rank + ranks - 1) / ranks;
  }
  /// Enough flags for any rank.
  [[nodiscard]] std::size_t most_flags() const {
    return static_cast<std::size_t>(tiles_of(0) * allreduce.context.size());
  }
};

/// Combines tiles as they are published. All calls of one operation come in the order start, finish, progress until
/// true; the same on all ranks.
class TileRunner {
 public:
  TileRunner() = default;
  TileRunner(const TileRunner&) = delete;
  TileRunner& operator=(const TileRunner&) = delete;
  virtual ~TileRunner() = default;

  /// By rank, where the port's kernels can read it.
  [[nodiscard]] virtual Flag* const* owners() const = 0;
  [[nodiscard]] virtual const std::uint64_t* epoch() const = 0;
  virtual void start(Executor& executor) = 0;
  virtual void finish(Executor& executor) = 0;
  /// True once the elements hold the result, or, on a device, once all is enqueued.
  [[nodiscard]] virtual bool progress() = 0;
  [[nodiscard]] virtual std::string describe_late() const = 0;
  virtual void check() const {}
  /// Whether tiles are combined while kernels still run, and why not otherwise.
  [[nodiscard]] virtual std::string describe() const = 0;
};

/// Between Views that all ranks map; collective.
[[nodiscard]] std::unique_ptr<TileRunner> make_host_tiles(TileParts&& parts);
[[nodiscard]] std::unique_ptr<TileRunner> make_device_tiles(TileParts&& parts);

}  // namespace selvage::detail
