#pragma once

#include "layouts/neighbourhood.hpp"

#include <selvage/comm/grid.hpp>

namespace selvage::detail {

/// Who surrounds a rank's box, and which cells go where. Not collective.
/// \param corners  also across edges and corners
template <int D>
[[nodiscard]] Neighbourhood neighbourhood_of(const Grid<D>& grid, int rank, const Width<D>& width,
                                             bool corners);

}  // namespace selvage::detail
