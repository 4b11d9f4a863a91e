#pragma once

#include "jacobi/persistent/tiling.hpp"

#include <selvage/comm/halo_port.hpp>

#include <cstddef>
#include <cstdint>

namespace selvage::jacobi {

/// What the persistent kernel keeps from launch to launch, in device memory.
struct PersistentState {
  std::uint64_t epoch = 0;     ///< passes so far; tiles count theirs from it
  std::uint64_t finished = 0;  ///< blocks of this launch
  std::uint64_t failed = 0;    ///< a wait ran out: nothing waits any more
  double squared_change = 0;   ///< of the last step, summed over this rank's cells
};

/// One rank's part of the persistent kernel. Cell (y, x) of a field is at `origin[y * pitch + x]`, (0, 0) being
/// the first owned one; `steps` ghost rows lie on both sides. All pointers are device memory.
template <class Real>
struct PersistentProgram {
  Real* origin[2];  ///< of the two fields, numbered as in `port`
  /// Where the neighbours across the low and high side keep cell (0, 0) of this rank's rows, at the same pitch;
  /// null at a fixed side.
  Real* beyond_low[2];
  Real* beyond_high[2];
  std::int64_t pitch;
  int rows;
  int columns;
  Tiling tiling;
  const Real* source_y;  ///< the source's factors, from cell 0 on, ghosts included; null without a source
  const Real* source_x;
  detail::Flag* tile_flags;  ///< strip by strip, then chunk by chunk
  double* tile_changes;      ///< likewise: the squared change of the last step
  PersistentState* state;
  std::uint64_t timeout_ns;
  HaloPort port;
};

/// One launch.
struct PersistentRun {
  int steps = 0;
  int from = 0;                  ///< the field that holds the newest values
  bool measures_change = false;  ///< of the last step, which is then a pass of its own
};

/// Blocks of the kernel that one multiprocessor holds at a time. \throws Error{cuda}
template <class Real>
[[nodiscard]] int persistent_blocks_per_multiprocessor(bool has_source);

/// Enqueues one launch. \param stream  a cudaStream_t \throws Error{cuda}
template <class Real>
void launch_persistent(const PersistentProgram<Real>& program, const PersistentRun& run, void* stream);

/// Passes of a launch; the fields change roles in each.
template <class Real>
[[nodiscard]] constexpr int count_passes(const PersistentRun& run) {
  constexpr int steps = MarchShape<Real>::steps;
  const int whole = (run.steps - (run.measures_change ? 1 : 0)) / steps;
  return whole + (run.steps - whole * steps);
}

}  // namespace selvage::jacobi
