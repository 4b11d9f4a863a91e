#include "grid_neighbourhood.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

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

template <int D>
Box<D> grown(Box<D> box, const Width<D>& width) {
  for (int axis = 0; axis < D; ++axis) {
    box.begin[axis] -= width[axis].low;
    box.end[axis] += width[axis].high;
  }
  return box;
}

/// Cells in the indices of the View of `box`.
template <int D>
Region region_of(const Box<D>& cells, const Box<D>& box, const Width<D>& width) {
  Region region;
  for (int axis = 0; axis < D; ++axis) {
    region.begin[axis] = cells.begin[axis] - box.begin[axis] + width[axis].low;
    region.extents[axis] = is_empty(cells) ? 0 : cells.extent(axis);
  }
  return region;
}

/// `box` as it appears `image` grids away; nothing where that isn't periodic.
template <int D>
std::optional<Box<D>> image_of(const Grid<D>& grid, Box<D> box, Direction image) {
  for (int axis = 0; axis < 3; ++axis) {
    const int step = component(image, axis);
    if (step == 0) continue;
    if (axis >= D || !grid.periodic()[axis]) return std::nullopt;
    box.begin[axis] += step * grid.cells()[axis];
    box.end[axis] += step * grid.cells()[axis];
  }
  return box;
}

template <int D>
void require_one_turn(const Grid<D>& grid, const Width<D>& width) {
  for (int axis = 0; axis < D; ++axis) {
    const std::int64_t reach = std::max(width[axis].low, width[axis].high);
    if (!grid.periodic()[axis] || reach <= grid.cells()[axis]) continue;
    throw Error(ErrorKind::usage,
                fmt::format("a halo of {} cells is wider than a periodic grid of {} along axis {}", reach,
                            grid.cells()[axis], axis));
  }
}

/// From the boxes themselves. The direction of a boundary is that of the image of the neighbour's box, the centre for the box where
/// it lies: seen from there, this rank's box lies in the opposite one, as on a process grid.
template <int D>
Neighbourhood neighbourhood_of_boxes(const Grid<D>& grid, int rank, const Width<D>& width) {
  require_one_turn(grid, width);
  Neighbourhood result{.shape = shape_of(grid, rank, width), .neighbours = {}, .by_direction = false};
  const Box<D> own = grid.box_of(rank);
  for (int there = 0; there < grid.size(); ++there) {
    Neighbour neighbour{.rank = there, .boundaries = {}};
    for (Direction image = 0; image < 27; ++image) {
      const auto theirs = image_of(grid, grid.box_of(there), image);
      if (!theirs || (there == rank && image == centre)) continue;
      const Box<D> sent = common(own, grown(*theirs, width));
      const Box<D> received = common(grown(own, width), *theirs);
      if (is_empty(sent) && is_empty(received)) continue;
      neighbour.boundaries.push_back({.direction = image,
                                      .owned = region_of(sent, own, width),
                                      .ghost = region_of(received, own, width),
                                      .peer_ghost = region_of(sent, *theirs, width)});
    }
    if (!neighbour.boundaries.empty()) result.neighbours.push_back(std::move(neighbour));
  }
  return result;
}

}  // namespace

template <int D>
Neighbourhood neighbourhood_of(const Grid<D>& grid, int rank, const Width<D>& width, bool corners) {
  if (!grid.has_process_grid()) {
    if (corners) return neighbourhood_of_boxes(grid, rank, width);
    throw Error(
        ErrorKind::unsupported,
        "a Grid of boxes fills ghosts across edges and corners too: corners = false is for process grids");
  }
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
