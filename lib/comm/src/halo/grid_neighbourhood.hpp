#pragma once

#include "layouts/neighbourhood.hpp"

#include <selvage/comm/grid.hpp>

#include <algorithm>

namespace selvage::detail {

/// The cells of both; empty where there are none.
template <int D>
[[nodiscard]] Box<D> common(const Box<D>& a, const Box<D>& b) {
  Box<D> result;
  for (int axis = 0; axis < D; ++axis) {
    result.begin[axis] = std::max(a.begin[axis], b.begin[axis]);
    result.end[axis] = std::min(a.end[axis], b.end[axis]);
  }
  return result;
}

/// The neighbours of a rank's box, and the cells that are exchanged with each. Not collective.
/// \param corners  whether to exchange across edges and corners too
/// \throws Error{unsupported}: no corners on a Grid of boxes. Error{usage}: ghosts that reach around such a Grid more than once
template <int D>
[[nodiscard]] Neighbourhood neighbourhood_of(const Grid<D>& grid, int rank, const Width<D>& width,
                                             bool corners);

}  // namespace selvage::detail
