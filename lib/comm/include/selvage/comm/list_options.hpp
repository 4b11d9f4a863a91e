#pragma once

#include <selvage/comm/options.hpp>

#include <optional>
#include <vector>

namespace selvage {

/// How ListHalo and Migration find and reach other ranks. The same on all ranks, but for the names of the neighbours.
struct ListOptions {
  /// The only ranks that will be sent to or received from, this one left out or not; each of them names this one too.
  /// Then a rebuild talks to them alone. Without it, each rebuild is collective: ranks find out who sends to them.
  std::optional<std::vector<int>> neighbours = {};
  /// Force peer, mpi_direct or mpi_staged for all ranks; else SELVAGE_TRANSPORT, else the first that is possible.
  std::optional<Transport> transport = {};
  /// Force host, stream, queue or kernel; else SELVAGE_INITIATION, else stream where it is possible. kernel: peers' kernels
  /// signal and wait by themselves, as they do in any case where particles lie in GPU memory. queue: kernels hand the proxy
  /// what to send over MPI, on one host too, and wait for what it brings; it needs MPI_THREAD_MULTIPLE.
  std::optional<Initiation> initiation = {};
};

}  // namespace selvage
