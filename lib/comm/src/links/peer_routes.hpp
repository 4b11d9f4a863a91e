#pragma once

#include "transport.hpp"

#include <array>
#include <limits>
#include <vector>

namespace selvage::detail {

/// The copies that make up one put and its arrival, by field.
struct Routes {
  /// Owned cells to the bounce block, on hosts; before the puts.
  std::vector<std::vector<CopyBox>> packs;
  /// Owned cells to the peer: straight into its ghosts, or into its landing block of the epoch's parity.
  std::array<std::vector<std::vector<CopyBox>>, 2> puts;
  /// Landing block of the epoch's parity to the bounce block, on hosts; before the unpacks.
  std::array<std::vector<std::vector<CopyBox>>, 2> fetches;
  /// Landing block of the epoch's parity, or bounce block, to this rank's ghosts.
  std::array<std::vector<std::vector<CopyBox>>, 2> unpacks;
  bool puts_directly = false;      ///< some of the peer's ghosts are written by this rank
  bool receives_directly = false;  ///< some of this rank's ghosts are written by the peer
};

/// A strided region whose contiguous runs are shorter than this is packed into the landing block instead of stored in place. In
/// place, each run moves a cache line, with the owned cells that share it, to the writer's core and back. Columns of single doubles
/// were then 0.7 to 1.2 times as fast as packing and MPI; packed they are 1.3 to 4 times as fast.
inline constexpr std::int64_t direct_run_bytes_on_host = 128;
/// The same between GPUs. A store shorter than a sector crosses the link as a whole sector; unpacking costs a pass over local
/// memory.
inline constexpr std::int64_t direct_run_bytes_on_device = 8;
/// Between ranks that share a GPU a larger region is packed where its runs are shorter than a sector. Four ranks with arrays of
/// 256^3 doubles exchange sides of 512 KB, across the axis that is contiguous, in 38 us when these are packed, and in 200 us when
/// they are stored in place. Sides of 288 KB take 21 us in place.
inline constexpr std::int64_t scattered_bytes_on_shared_device = 256 * 1024;
inline constexpr std::int64_t sector_bytes = 32;

/// On hosts a packed field of at most so many bytes is first packed into a bounce block, which stays in the caches of its core, and
/// then copied to the other rank in one piece. Single stores to cache lines that another core holds, and single loads from them,
/// cost more than this extra copy: a column of 64 KB takes 12 us instead of 17 between cores with separate caches, and 10.3 us
/// instead of 9.5 where they share one. Larger fields would evict the cache lines that this saves.
inline constexpr std::int64_t bounce_bytes_on_host = 256 * 1024;

/// The peer's memory, as this rank maps it.
struct PeerMemory {
  std::vector<std::byte*> fields;
  std::array<std::byte*, 2> ghosts_blocks{};  ///< its landing blocks for this rank
};

/// Which copies a transport packs. Both ranks of a pair use the same values, except for addresses.
struct RouteRules {
  static constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();
  std::int64_t direct_run_bytes = 0;  ///< contiguous bytes from which a region is stored in place
  /// A region of more bytes is stored in place only where its contiguous bytes are sector_bytes at least. Holds between ranks that
  /// share a GPU; between others there is no limit.
  std::int64_t scattered_bytes = no_limit;
  std::byte* bounce = nullptr;  ///< bounce_bytes_on_host, used only within one call; null on devices
};

/// This rank's memory for the traffic with one peer.
struct OwnMemory {
  std::array<const std::byte*, 2> ghosts_blocks{};  ///< landing blocks for the peer
};

[[nodiscard]] Routes make_routes(const TransportParts& parts, const PeerPlan& plan, const PeerMemory& remote,
                                 const OwnMemory& own, const RouteRules& rules);

}  // namespace selvage::detail
