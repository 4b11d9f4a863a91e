#pragma once

#include <selvage/comm/options.hpp>

#include <optional>
#include <vector>

namespace selvage {

/// How ListHalo and Migration find and reach other ranks. The same on all ranks, but for the names of the neighbours.
struct ListOptions {
  /// All ranks that will ever be sent to or received from; each of them must name this rank too. This rank itself may be
  /// listed or not. Then a rebuild exchanges messages with these ranks alone. Without this option each rebuild is collective,
  /// to find out who sends to whom.
  std::optional<std::vector<int>> neighbours = {};
  /// Force peer, mpi_direct or mpi_staged for all ranks; else SELVAGE_TRANSPORT, else the first that is possible.
  std::optional<Transport> transport = {};
  /// Force host, stream, queue or kernel; else SELVAGE_INITIATION, else stream where it is possible. kernel: peers' kernels
  /// signal and wait by themselves, as they do in any case where particles lie in GPU memory. queue: kernels hand the proxy
  /// what to send over MPI, on one host too, and wait for what it brings; it needs MPI_THREAD_MULTIPLE.
  std::optional<Initiation> initiation = {};
};

}  // namespace selvage
