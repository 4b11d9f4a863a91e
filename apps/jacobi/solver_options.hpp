#pragma once

#include "jacobi/cli/settings.hpp"

#include <selvage/comm/box.hpp>
#include <selvage/comm/grid.hpp>
#include <selvage/comm/options.hpp>

#include <optional>

namespace selvage::jacobi {

struct SolverOptions {
  Overlap overlap = Overlap::host;
  /// Sweeps from one exchange to the next: the ghosts are as wide, and each sweep but the last also computes
  /// the ghost cells that the next one reads.
  int steps_per_exchange = 1;
  std::optional<Transport> transport = {};
  std::optional<Initiation> initiation = {};
  /// Sweeps in a kernel that keeps iterating and sends its own boundary (PersistentSweeps); overlap, steps per
  /// exchange, transport and initiation then play no part. 5-point only.
  bool persistent = false;
};

namespace detail {

template <int D>
[[nodiscard]] HaloOptions<D> halo_options(const SolverOptions& options, bool stencil_reads_corners) {
  HaloOptions<D> halo;
  halo.width = options.steps_per_exchange;
  // Redundant cells read diagonally whatever the stencil: two sweeps of a star reach around a corner.
  halo.corners = stencil_reads_corners || options.steps_per_exchange > 1;
  // Only with one sweep per exchange are a field's ghosts read in that sweep alone, and only without sends from
  // kernels between them do exchanges take strict turns.
  const bool strict_turns = options.steps_per_exchange == 1 && options.overlap != Overlap::kernel;
  halo.ghost_reuse = strict_turns ? GhostReuse::alternating : GhostReuse::credit;
  halo.transport = options.transport;
  halo.initiation = options.initiation;
  return halo;
}

}  // namespace detail

}  // namespace selvage::jacobi
