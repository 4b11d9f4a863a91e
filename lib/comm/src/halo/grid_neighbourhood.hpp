#pragma once

#include "layouts/neighbourhood.hpp"

#include <selvage/comm/grid.hpp>

namespace selvage::detail {

/// The neighbours of a rank's box, and the cells that are exchanged with each. Not collective.
/// \param corners  whether to exchange across edges and corners too
template <int D>
[[nodiscard]] Neighbourhood neighbourhood_of(const Grid<D>& grid, int rank, const Width<D>& width,
                                             bool corners);

}  // namespace selvage::detail
