#pragma once

#include <Kokkos_Core.hpp>

#include <cstddef>

namespace selvage::jacobi {

/// Elements from a cell to its neighbour along each axis but the last one, x, whose cells are contiguous.
template <int D>
struct Strides;
template <>
struct Strides<2> {
  std::ptrdiff_t y;
};
template <>
struct Strides<3> {
  std::ptrdiff_t z;
  std::ptrdiff_t y;
};

/// The stencils. A sweep sets each cell to `weight * (sum(neighbours) + source_weight / weight * h^2 f)`, the
/// Jacobi iteration of -laplace(u) = f with spacing h on every axis.
///
/// sum() is the one expression that every path evaluates (interior, edges, redundant ghost cells, serial
/// reference), so that all of them give the same bits; keep its order of additions.
struct FivePoint {
  static constexpr int dimensions = 2;
  static constexpr int points = 5;
  static constexpr bool reads_corners = false;
  static constexpr double weight = 1.0 / 4.0;
  static constexpr double source_weight = 1.0 / 4.0;

  template <class Real>
  KOKKOS_FORCEINLINE_FUNCTION static Real combine(Real east, Real west, Real above, Real below) {
    return (east + west) + (above + below);
  }

  template <class Real>
  KOKKOS_FORCEINLINE_FUNCTION static Real sum(const Real* u, const Strides<2>& stride) {
    return combine(u[1], u[-1], u[stride.y], u[-stride.y]);
  }
};

struct SevenPoint {
  static constexpr int dimensions = 3;
  static constexpr int points = 7;
  static constexpr bool reads_corners = false;
  static constexpr double weight = 1.0 / 6.0;
  static constexpr double source_weight = 1.0 / 6.0;

  template <class Real>
  KOKKOS_FORCEINLINE_FUNCTION static Real sum(const Real* u, const Strides<3>& stride) {
    return ((u[1] + u[-1]) + (u[stride.y] + u[-stride.y])) + (u[stride.z] + u[-stride.z]);
  }
};

/// The compact stencil with edge weights 4 and corner weights 1.
struct NinePoint {
  static constexpr int dimensions = 2;
  static constexpr int points = 9;
  static constexpr bool reads_corners = true;
  static constexpr double weight = 1.0 / 20.0;
  static constexpr double source_weight = 6.0 / 20.0;

  template <class Real>
  KOKKOS_FORCEINLINE_FUNCTION static Real sum(const Real* u, const Strides<2>& stride) {
    const Real* const above = u + stride.y;
    const Real* const below = u - stride.y;
    const Real edges = (u[1] + u[-1]) + (above[0] + below[0]);
    const Real corners = (above[1] + above[-1]) + (below[1] + below[-1]);
    return Real(4) * edges + corners;
  }
};

/// All 26 neighbours with weight 1; their second moment makes the source 9 h^2 f.
struct TwentySevenPoint {
  static constexpr int dimensions = 3;
  static constexpr int points = 27;
  static constexpr bool reads_corners = true;
  static constexpr double weight = 1.0 / 26.0;
  static constexpr double source_weight = 9.0 / 26.0;

  /// The eight cells around the line of x through `u`, at u's x. Three cells in a row need each of these, so
  /// a kernel that keeps them does half the work.
  template <class Real>
  KOKKOS_FORCEINLINE_FUNCTION static Real column(const Real* u, const Strides<3>& stride) {
    const Real* const front = u + stride.z;
    const Real* const back = u - stride.z;
    const Real faces = (u[stride.y] + u[-stride.y]) + (front[0] + back[0]);
    const Real edges = (front[stride.y] + front[-stride.y]) + (back[stride.y] + back[-stride.y]);
    return faces + edges;
  }

  template <class Real>
  KOKKOS_FORCEINLINE_FUNCTION static Real combine(Real before, Real here, Real after, const Real* u) {
    return (u[1] + u[-1]) + (here + (before + after));
  }

  template <class Real>
  KOKKOS_FORCEINLINE_FUNCTION static Real sum(const Real* u, const Strides<3>& stride) {
    return combine(column(u - 1, stride), column(u, stride), column(u + 1, stride), u);
  }
};

template <class Stencil>
concept SharesColumns = requires(const double* u, const Strides<3>& stride) {
  Stencil::column(u, stride);
};

}  // namespace selvage::jacobi
