#pragma once

#include <selvage/comm/box.hpp>

#include <optional>
#include <string_view>

namespace selvage {

/// Who starts a transfer (LeBeane's taxonomy, thesis ch. 6). All give the same bits.
enum class Initiation {
  host,    ///< HDN: the kernel ends, the host synchronises and sends
  stream,  ///< GDS: the send is enqueued on the execution space; nothing blocks the host
  queue,   ///< GHN, ComP-Net: a kernel writes a descriptor that a proxy issues
  kernel,  ///< GPU-TN: a kernel fires an operation registered beforehand; over peer it stores by itself
};

/// How the bytes move.
enum class Transport {
  peer,         ///< zero copy: straight into the neighbour's View, then a flag
  copy_engine,  ///< the same by the GPU's copy engines instead of a kernel
  mpi_direct,   ///< pack, then MPI on that memory
  mpi_staged,   ///< kernels pack into host memory, then MPI, and unpack from there
  ring,         ///< through units of page-locked host memory in turn; typed transfers within a host alone
};

[[nodiscard]] std::string_view to_string(Initiation initiation);
[[nodiscard]] std::string_view to_string(Transport transport);
/// \throws Error{input} that lists the possible texts
[[nodiscard]] Initiation parse_initiation(std::string_view text);
[[nodiscard]] Transport parse_transport(std::string_view text);

/// What keeps a sender from overwriting ghosts that their owner still reads.
enum class GhostReuse {
  /// The receiver's start() releases a credit for its ghosts, and the sender waits for it. Correct for every program.
  credit,
  /// The caller promises that Views alternate: from the first start() on, the ghosts of a View are only
  /// touched between its own finish() and the next start() of another View of this HaloExchange (u to v, then
  /// v to u). Then receiving from a neighbour proves that it is done with what we sent before, and no credit is
  /// waited for. The first exchange, the same View twice in a row, and neighbours that only send or only
  /// receive use credits all the same.
  alternating,
};

/// What is exchanged, and how. The same on all ranks.
template <int D>
struct HaloOptions {
  Width<D> width = 1;   ///< ghost cells per axis and side; the Views' extents include them
  bool corners = true;  ///< false: faces only, edge and corner ghosts are left alone
  GhostReuse ghost_reuse = GhostReuse::credit;
  /// Force one for all neighbours; else SELVAGE_TRANSPORT, else ContextOptions::transport, else chosen.
  std::optional<Transport> transport = {};
  /// Force one; else SELVAGE_INITIATION, else ContextOptions::initiation, else stream where it is possible.
  std::optional<Initiation> initiation = {};
};

}  // namespace selvage
