#pragma once

#include <Kokkos_Core.hpp>

#include <array>

namespace heat {

using Space = Kokkos::DefaultExecutionSpace;
using Field = Kokkos::View<double***, Space>;

constexpr double wall = 1.0;  // what lies around the box
constexpr double rate = 0.1;  // of the difference to each of six neighbours, per step

/// The heat of a cell after a step. Both programs add in this order, so their bits are equal.
KOKKOS_INLINE_FUNCTION double conducted(double own, double west, double east, double south, double north,
                                        double below, double above) {
  return own + rate * (west + east + south + north + below + above - 6 * own);
}

/// Something to begin with, the same however ranks share the cells. \param cell  in the whole box
KOKKOS_INLINE_FUNCTION double initial_heat(const std::array<int, 3>& cell) {
  return (cell[0] * 31 + cell[1] * 17 + cell[2] * 7) % 100 / 100.0;
}

inline Kokkos::MDRangePolicy<Space, Kokkos::Rank<3>> cells(const Space& space,
                                                           const std::array<int, 3>& begin,
                                                           const std::array<int, 3>& end) {
  return {space, {begin[0], begin[1], begin[2]}, {end[0], end[1], end[2]}};
}

template <class Plane>
Kokkos::MDRangePolicy<Space, Kokkos::Rank<2>> all_of(const Space& space, const Plane& plane) {
  return {space, {0, 0}, {plane.extent_int(0), plane.extent_int(1)}};
}

}  // namespace heat
