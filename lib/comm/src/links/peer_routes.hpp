#pragma once

#include "transport.hpp"

#include <array>
#include <vector>

namespace selvage::detail {

/// What one put and its arrival consist of, by field.
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

/// Bytes of one contiguous run below which a strided region is packed into the landing block instead of
/// stored in place. In place, each run drags a cache line, and the owned cells that share it, to the writer's
/// core and back: columns of single doubles then ran at 0.7 to 1.2 times the speed of plain pack and MPI,
/// packed at 1.3 to 4 times.
inline constexpr std::int64_t direct_run_bytes_on_host = 128;
/// The same between GPUs, where a store of less than a sector crosses the link as a whole one, and unpacking
/// costs a pass over local memory.
inline constexpr std::int64_t direct_run_bytes_on_device = 8;

/// Packed bytes up to which a field crosses between host ranks in one piece, by way of a bounce block that
/// stays in the caches of its core: single stores into lines that another core holds, and single loads from
/// them, cost more than the extra copy. Where caches are apart a 64 KB column then takes 12 us instead of 17,
/// where they are shared 10.3 instead of 9.5. Larger ones would evict what they are to save.
inline constexpr std::int64_t bounce_bytes_on_host = 256 * 1024;

/// Where the peer's memory is mapped.
struct PeerMemory {
  std::vector<std::byte*> fields;
  std::array<std::byte*, 2> ghosts_blocks{};  ///< its landing blocks for this rank
};

/// How a transport wants its copies; both ranks of a pair have the same, but for addresses.
struct RouteRules {
  std::int64_t direct_run_bytes = 0;  ///< contiguous bytes from which a region is stored in place
  std::byte* bounce = nullptr;        ///< bounce_bytes_on_host, used only within one call; null on devices
};

/// This rank's ends of the traffic with one peer.
struct OwnMemory {
  std::array<const std::byte*, 2> ghosts_blocks{};  ///< landing blocks for the peer
};

[[nodiscard]] Routes make_routes(const TransportParts& parts, const PeerPlan& plan, const PeerMemory& remote,
                                 const OwnMemory& own, const RouteRules& rules);

}  // namespace selvage::detail
