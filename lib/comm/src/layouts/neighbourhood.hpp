#pragma once

#include "layout.hpp"

#include <selvage/comm/box.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace selvage::detail {

/// A direction to a neighbour, as one number: sum of (component + 1) * 3^axis over three axes.
using Direction = int;
inline constexpr Direction centre = 13;
[[nodiscard]] inline Direction opposite(Direction direction) {
  return 26 - direction;
}
/// -1, 0 or 1 along an axis.
[[nodiscard]] int component(Direction direction, int axis);

/// A box and its ghosts, with the number of axes taken off its type.
struct Shape {
  int axes = 0;
  std::array<std::int64_t, 3> extents{1, 1, 1};
  std::array<Side, 3> width{};
};

/// The cells of a box that its neighbour at `direction` keeps as ghosts, in View indices. Every rank has the
/// same width, so the neighbour's low ghosts are as wide as this one's.
[[nodiscard]] Region owned_region(const Shape& shape, Direction direction);
/// The ghosts of a box that its neighbour at `direction` owns, in View indices.
[[nodiscard]] Region ghost_region(const Shape& shape, Direction direction);
/// A region of cells as a region of one View: axes past the grid's are components, all of them.
[[nodiscard]] Region in_field(Region cells, const Field& field, int axes);

/// One step from a rank's box to a neighbour's, which may be the same rank's.
struct Boundary {
  Direction direction =
      centre;         ///< unlike those of the neighbour's other boundaries; opposite() seen from there
  Region owned;       ///< what this rank sends
  Region ghost;       ///< what this rank receives
  Region peer_ghost;  ///< where `owned` lands, in the neighbour's View indices
};

/// All steps to one neighbouring rank, by ascending direction.
struct Neighbour {
  int rank = 0;
  std::vector<Boundary> boundaries;
};

/// Who surrounds a rank, and its own shape: what a halo plan needs to know of a Grid.
struct Neighbourhood {
  Shape shape;
  std::vector<Neighbour>
      neighbours;            ///< by ascending rank; this rank itself among them where the grid wraps onto it
  bool by_direction = true;  ///< one neighbour at most lies in each direction
};

}  // namespace selvage::detail
