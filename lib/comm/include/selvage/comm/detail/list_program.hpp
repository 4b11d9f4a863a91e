#pragma once

#include <selvage/comm/command_port.hpp>
#include <selvage/comm/detail/signal.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace selvage::detail {

/// Consecutive entries, or ghosts, of a list.
struct ListRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

enum class ListOperation : std::uint64_t { rebuild, gather, scatter_add, migrate, failure };

/// Goes with the particles: what the sender takes part in, and how many there are.
struct ListHeader {
  ListOperation operation = ListOperation::rebuild;
  std::int64_t entries = 0;  ///< that follow; of a rebuild: that will, in a gather
  std::int64_t particle_bytes = 0;
  std::uint64_t signature = 0;
};

/// What messages begin with, so that the particles behind it stay aligned.
inline constexpr std::int64_t list_header_bytes = 128;
static_assert(sizeof(ListHeader) <= list_header_bytes);

/// Why a rank takes no part. Travels in place of particles.
struct ListFailure {
  std::int32_t kind = 0;
  std::array<char, 444> text{};
};

/// No message is shorter than this many bytes, so that a failure always fits where one lands.
inline constexpr std::int64_t least_list_message_bytes = list_header_bytes + sizeof(ListFailure);

/// What kernels of two ranks tell each other. Of one link, in the memory of the rank that polls; the other rank writes
/// all of it, or, of a link that the proxy carries, this rank's proxy writes `arrived` and `sent`.
struct KernelListFlags {
  /// Released after the header and the particles of this epoch were stored.
  Flag arrived;
  /// Of the proxy: released when it has let go of the message of this epoch, which may be overwritten.
  Flag sent;
  /// By parity of the epoch: the writer may be one epoch ahead, not two.
  alignas(128) std::array<ListHeader, 2> headers{};
  alignas(128) ListFailure failure;
};

/// A link, as kernels see it: two landing blocks on either side, by parity of the epoch. A rank may be its own peer.
///
/// Why a block that is still read isn't overwritten: a rank puts for epoch e in a kernel that follows its kernel of epoch
/// e - 1, which has seen the other rank's flag of e - 1. That flag was released by a kernel that followed the other rank's
/// kernel of epoch e - 2, the last to read the block. So links take part in every epoch from one rebuild to the next, or
/// in none, whichever way particles go; and a rebuild starts after all kernels of both ranks have ended.
///
/// Where the proxy carries a link, both blocks are this rank's own. What leaves in epoch e takes the place of what left in
/// e - 2: a kernel of e - 1 has awaited `sent` of e - 2. What comes in e is only received once a kernel of e asks for it.
struct ListPeer {
  /// In the other rank's memory; this rank's kernels write them. Null: the proxy carries the link.
  KernelListFlags* remote;
  KernelListFlags* own;  ///< in this rank's memory; the other rank's kernels, or the proxy, write them
  std::byte* remote_blocks;
  std::byte* own_blocks;
  std::byte* remote_headers;        ///< of even epochs
  std::byte* own_headers;           ///< likewise
  std::int64_t remote_block_bytes;  ///< of each of two
  std::int64_t own_block_bytes;
  std::int64_t to_odd_remote_header;  ///< bytes from a header of even epochs to that of odd ones
  std::int64_t to_odd_own_header;
  ListRange out;  ///< entries; where there are none, `first` is that of the next link that has some
  ListRange in;   ///< ghosts
  std::int32_t rank;
  std::int32_t ring;  ///< of the proxy's rings

  [[nodiscard]] KOKKOS_FUNCTION ListHeader& remote_header(std::uint64_t epoch) const {
    return *reinterpret_cast<ListHeader*>(remote_headers +
                                          static_cast<std::int64_t>(epoch % 2) * to_odd_remote_header);
  }
  [[nodiscard]] KOKKOS_FUNCTION ListHeader& own_header(std::uint64_t epoch) const {
    return *reinterpret_cast<ListHeader*>(own_headers +
                                          static_cast<std::int64_t>(epoch % 2) * to_odd_own_header);
  }
};

/// What a plan's kernels keep from launch to launch, in memory of their own. The epoch isn't an argument, so that
/// captured graphs can be replayed.
struct ListState {
  std::uint64_t epoch = 0;  ///< of the last operation whose particles were awaited
  std::uint64_t teams_done = 0;
  std::uint32_t failed = 0;  ///< once set, kernels neither put nor wait
  std::uint64_t put = 0;     ///< epoch of the last operation whose particles were put
};

/// The first failure of a plan's kernels. In host memory that they can write; `kind` is released last.
struct ListFault {
  enum Kind : std::uint64_t { none, late, not_sent, mismatch };
  std::uint64_t kind = none;
  std::int64_t peer_rank = 0;
  std::int64_t announced = 0;  ///< particles
  std::uint64_t wanted = 0;
  std::uint64_t seen = 0;
  std::int64_t place = 0;  ///< of the peer in the program
  ListHeader theirs;
  ListHeader mine;
};

/// One operation of a plan, for kernels.
struct ListProgram {
  ListPeer* peers = nullptr;  ///< by rank
  int peer_count = 0;
  bool reverse = false;  ///< ghosts go to owners
  ListState* state = nullptr;
  ListFault* fault = nullptr;
  ListHeader header;  ///< but for `entries`, which each peer has its own of
  std::uint64_t timeout_ns = 0;
  const CommandPort* commands = nullptr;  ///< the proxy's rings, one for each link that it carries
  std::int32_t message_tag = 0;

  [[nodiscard]] KOKKOS_FUNCTION const ListRange& sent(const ListPeer& peer) const {
    return reverse ? peer.in : peer.out;
  }
  [[nodiscard]] KOKKOS_FUNCTION const ListRange& received(const ListPeer& peer) const {
    return reverse ? peer.out : peer.in;
  }
};
static_assert(std::is_trivially_copyable_v<ListProgram>);

/// Which half of an operation is to be done.
enum class ListLaunch {
  put,       ///< pack into the peers' blocks, then release their flags
  take,      ///< wait for the peers' flags, unpack
  exchange,  ///< both
  await      ///< wait only
};

}  // namespace selvage::detail
