#pragma once

#include <selvage/comm/detail/signal.hpp>

#include <cstddef>
#include <cstdint>

namespace selvage::detail {

inline constexpr int port_axes = 4;  ///< a grid's three, and components
inline constexpr int direction_codes = 27;

/// The flags of one direction, in the memory of the rank that polls them; its neighbour there writes them. Of a
/// neighbour that can't be mapped, this rank's proxy polls and writes them in its place (PortRelay).
struct PortFlags {
  /// Released by the neighbour after its stores: the ghosts of this direction hold this epoch's cells.
  Flag arrived;
  /// Released by the neighbour when it no longer reads what this epoch's put will overwrite.
  Flag credit;
};

/// One View and one direction: this rank's cells that the neighbour there keeps as ghosts. Axes are sorted
/// here, from the largest source stride to the smallest.
struct PortRegion {
  std::int64_t begin[port_axes];  ///< in View indices
  std::int64_t end[port_axes];
  std::byte* source;  ///< of index 0, 0, 0, 0 in this rank's View
  std::byte* target;  ///< where the neighbour keeps its ghost of that index, or the block for it
  PortFlags* remote;  ///< whose `arrived` says that this View's cells have been put
  std::int64_t source_strides[port_axes];  ///< bytes
  std::int64_t target_strides[port_axes];
  std::int8_t view_axes[port_axes];    ///< the View's axis of each; at or past grid_axes: components
  std::int8_t sorted_axes[port_axes];  ///< the other way round
  std::int16_t grid_axes;
  std::int16_t word_bytes;  ///< 1, 2, 4, 8 or 16: what every element can be read and written in
  std::int32_t words;       ///< per element
};

/// One direction, whatever the View.
struct PortDirection {
  PortFlags* remote;    ///< in the neighbour's memory, or the proxy's; this rank writes them
  PortFlags* own;       ///< in this rank's memory; the neighbour writes them
  std::uint64_t cells;  ///< that this rank owns and the neighbour keeps; 0: nothing is sent there
  /// Cells put for the epoch of each parity. A team can't be two epochs ahead of another: it would have waited
  /// for a neighbour that waited for both.
  std::uint64_t counted[2];
  int rank;
  bool receives;       ///< this rank keeps ghosts of the neighbour's cells
  bool awaits_credit;  ///< for every epoch; the first one always does
};

/// What a port keeps from launch to launch, in memory of its kernels.
struct PortState {
  std::uint64_t epoch;   ///< of the last step of the launches that have closed
  std::uint64_t closed;  ///< teams of this launch
  std::uint64_t failed;  ///< once set, nothing waits any more
};

/// The first failure of a wait. In host memory that kernels write; `kind` is released last.
struct Fault {
  enum Kind : std::uint64_t { none, arrival_late, credit_late, mismatch, surplus };
  std::uint64_t kind = none;
  std::uint64_t rank = 0;
  std::uint64_t wanted = 0;
  std::uint64_t seen = 0;
};

}  // namespace selvage::detail
