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
  /// Force host or stream; else SELVAGE_INITIATION, else stream where it is possible.
  std::optional<Initiation> initiation = {};
};

}  // namespace selvage
