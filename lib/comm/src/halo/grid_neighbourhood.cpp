#include "grid_neighbourhood.hpp"

#include <map>
#include <optional>

namespace selvage::detail {
namespace {

template <int D>
Shape shape_of(const Grid<D>& grid, int rank, const Width<D>& width) {
  Shape shape;
  shape.axes = D;
  for (int axis = 0; axis < D; ++axis) {
    shape.extents[axis] = grid.box_of(rank).extent(axis);
    shape.width[axis] = width[axis];
  }
  return shape;
}

/// -1, 0 or 1 per axis of the grid; nothing for directions that leave the grid's axes, the centre and, with
/// faces only, edges and corners.
template <int D>
std::optional<std::array<int, D>> steps_of(Direction direction, bool corners) {
  std::array<int, D> steps{};
  int nonzero = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const int step = component(direction, axis);
    if (step != 0) ++nonzero;
    if (axis < D) {
      steps[axis] = step;
    } else if (step != 0) {
      return std::nullopt;
    }
  }
  if (nonzero == 0 || (nonzero > 1 && !corners)) return std::nullopt;
  return steps;
}

}  // namespace

template <int D>
Neighbourhood neighbourhood_of(const Grid<D>& grid, int rank, const Width<D>& width, bool corners) {
  Neighbourhood result;
  result.shape = shape_of(grid, rank, width);
  std::map<int, Neighbour> by_rank;
  for (Direction direction = 0; direction < 27; ++direction) {
    const auto steps = steps_of<D>(direction, corners);
    if (!steps) continue;
    const int there = grid.neighbour_of(rank, *steps);
    if (there == Grid<D>::no_neighbour) continue;
    Boundary boundary;
    boundary.direction = direction;
    boundary.owned = owned_region(result.shape, direction);
    boundary.ghost = ghost_region(result.shape, direction);
    boundary.peer_ghost = ghost_region(shape_of(grid, there, width), opposite(direction));
    by_rank[there].rank = there;
    by_rank[there].boundaries.push_back(boundary);
  }
  for (auto& [there, neighbour] : by_rank) result.neighbours.push_back(std::move(neighbour));
  return result;
}

template Neighbourhood neighbourhood_of(const Grid<1>&, int, const Width<1>&, bool);
template Neighbourhood neighbourhood_of(const Grid<2>&, int, const Width<2>&, bool);
template Neighbourhood neighbourhood_of(const Grid<3>&, int, const Width<3>&, bool);

}  // namespace selvage::detail
