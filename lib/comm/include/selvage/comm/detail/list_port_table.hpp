#pragma once

#include <selvage/comm/detail/signal.hpp>

#include <cstddef>
#include <cstdint>

namespace selvage::detail {

/// A rank that has ghosts of this one's particles, or the other way round; also this rank itself.
struct ListPortPeer {
  std::byte* ghosts;  ///< in the other rank's memory: its ghosts of this rank's particles, of even epochs
  std::int64_t to_odd_epochs;  ///< bytes from there to those of odd epochs
  Flag* arrived;               ///< in the other rank's memory; this rank's kernels write it
  std::int64_t first_entry;    ///< of the entries for that rank
  std::int64_t entries;
  std::int32_t rank;
};

/// Where an entry's ghost lies.
struct ListPortPlace {
  std::int32_t peer;   ///< row of the table
  std::int32_t ghost;  ///< among those that the peer has of this rank
};

/// What a port's kernels keep from launch to launch, in memory of their own: captured graphs can be replayed. No word is
/// written by a kernel in which another team reads it, but for `failed`, which is atomic; all teams that write `awaited`
/// write the same.
struct ListPortState {
  std::uint64_t putting = 0;  ///< epoch of the last launch that put; by the first team of each such launch
  std::uint64_t signalled =
      0;  ///< the last epoch that peers know of; by the first team of the next kernel that awaits
  std::uint64_t awaited = 0;  ///< the last epoch that a team has awaited
  std::uint32_t failed = 0;   ///< once set, kernels neither put nor wait
};

/// The first failure of a port's kernels. In host memory that they can write; `kind` is released last.
struct ListPortFault {
  enum Kind : std::uint64_t { none, late, not_awaited };
  std::uint64_t kind = none;
  std::int64_t rank = 0;
  std::uint64_t wanted = 0;
  std::uint64_t seen = 0;
};

/// A ListPort without the type of its elements.
///
/// `arrived` of a peer: released by the first team of the peer's first kernel after the launch that put, which has ended by
/// then with all its stores; it publishes the ghosts of that epoch, and that the peer's kernels that read those before have
/// ended. Polled by this rank.
///
/// Why ghosts that are still read aren't overwritten: those of epoch e take the place of those of e - 2. A rank puts them
/// in a launch after a kernel that has awaited e - 1 from all peers (`awaited` says so), and a peer's flag of e - 1 was
/// released by a launch that followed the peer's kernels that read e - 2. Epochs begin at 0 with each table: a peer puts for a
/// new table only after it was told of it, and that came after a fence of the kernels that read ghosts of the last one.
struct ListPortTable {
  const ListPortPeer* peers = nullptr;
  int peer_count = 0;
  ListPortPlace* places = nullptr;    ///< by place in the list that the caller gave
  const Flag* arrived = nullptr;      ///< in this rank's memory, by peer
  const std::byte* ghosts = nullptr;  ///< in this rank's memory, of even epochs
  std::int64_t to_odd_epochs = 0;
  ListPortState* state = nullptr;
  ListPortFault* fault = nullptr;
  std::uint64_t timeout_ns = 0;
};

/// Finds where an entry's ghost lies.
struct PlaceGhosts {
  ListPortTable table;
  const int* order;  ///< by entry: its place in the caller's list
  KOKKOS_FUNCTION void operator()(std::int64_t entry) const {
    int peer = 0;
    while (entry >= table.peers[peer].first_entry + table.peers[peer].entries ||
           entry < table.peers[peer].first_entry)
      ++peer;
    table.places[order[entry]] = {peer, static_cast<std::int32_t>(entry - table.peers[peer].first_entry)};
  }
};

}  // namespace selvage::detail
