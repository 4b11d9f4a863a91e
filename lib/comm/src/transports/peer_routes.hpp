#pragma once

#include "transport.hpp"

#include <array>
#include <vector>

namespace selvage::detail {

/// What one put and its arrival consist of, by field.
struct Routes {
  /// Owned cells to the peer: straight into its ghosts, or into its landing block of the epoch's parity.
  std::array<std::vector<std::vector<CopyBox>>, 2> puts;
  /// Landing block of the epoch's parity to this rank's ghosts.
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

/// Where the peer's memory is mapped.
struct PeerMemory {
  std::vector<std::byte*> fields;
  std::array<std::byte*, 2> ghosts_blocks{};  ///< its landing blocks for this rank
};

[[nodiscard]] Routes make_routes(const TransportParts& parts, const PeerPlan& plan, const PeerMemory& remote,
                                 const std::array<const std::byte*, 2>& own_blocks);

}  // namespace selvage::detail
