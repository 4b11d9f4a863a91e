#pragma once

#include "jacobi/physics/stencil.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

namespace selvage::jacobi {

/// What the Jacobi iteration does to the one mode that the case `dirichlet` is made of.
///
/// The source is f = a pi^2 sum_i (w_i / L_i)^2 g with g = prod_i sin(w_i pi x_i / L_i): half a wave (w = 1)
/// along a Dirichlet axis, a whole one (w = 2) along a periodic axis. g is an eigenvector of every stencil
/// here, with
///
///     5-point   lambda = (c1 + c2) / 2
///     7-point   lambda = (c1 + c2 + c3) / 3
///     9-point   lambda = (8 (c1 + c2) + 4 c1 c2) / 20
///     27-point  lambda = ((1 + 2 c1) (1 + 2 c2) (1 + 2 c3) - 1) / 26,     c_i = cos(w_i pi / intervals_i).
///
/// A sweep is u -> S u + b g with S g = lambda g, so its fixed point, the discrete solution, is b / (1 -
/// lambda) g, and started from zero the error after k sweeps is exactly lambda^k of it.
struct Theory {
  double gap = 0;                 ///< 1 - lambda, from sines, so that it is accurate for any number of cells
  double discrete_amplitude = 0;  ///< b / (1 - lambda)
  double exact_amplitude = 0;     ///< a: the solution of the differential equation is a g
  double squared_norm = 0;        ///< sum of g^2 over all cells

  [[nodiscard]] double lambda() const { return 1 - gap; }
  /// lambda^k, the error after k sweeps relative to the discrete solution.
  [[nodiscard]] double error(std::int64_t sweeps) const {
    return gap < 1 ? std::exp(static_cast<double>(sweeps) * std::log1p(-gap))
                   : std::pow(lambda(), static_cast<double>(sweeps));
  }
  /// The 2-norm of what sweep k + 1 changes.
  [[nodiscard]] double residual(std::int64_t sweeps) const {
    return std::abs(discrete_amplitude) * gap * std::abs(error(sweeps)) * std::sqrt(squared_norm);
  }
};

/// 1 - lambda from s_i = 1 - c_i.
[[nodiscard]] inline double gap_of(FivePoint, const std::array<double, 2>& s) {
  return (s[0] + s[1]) / 2;
}
[[nodiscard]] inline double gap_of(SevenPoint, const std::array<double, 3>& s) {
  return (s[0] + s[1] + s[2]) / 3;
}
[[nodiscard]] inline double gap_of(NinePoint, const std::array<double, 2>& s) {
  return (12 * (s[0] + s[1]) - 4 * s[0] * s[1]) / 20;
}
[[nodiscard]] inline double gap_of(TwentySevenPoint, const std::array<double, 3>& s) {
  const double singles = s[0] + s[1] + s[2];
  const double pairs = s[0] * s[1] + s[1] * s[2] + s[2] * s[0];
  return (18 * singles - 12 * pairs + 8 * s[0] * s[1] * s[2]) / 26;
}

/// Intervals of width h along an axis: its two boundary points bound one more than it has cells.
[[nodiscard]] inline std::int64_t intervals(std::int64_t cells, bool periodic) {
  return periodic ? cells : cells + 1;
}
/// Half waves of the mode along an axis.
[[nodiscard]] inline int half_waves(bool periodic) {
  return periodic ? 2 : 1;
}

/// sum_i (w_i pi / intervals_i)^2, which is h^2 f / (a g) whatever h is.
template <std::size_t D>
[[nodiscard]] double scaled_laplacian(const std::array<std::int64_t, D>& cells,
                                      const std::array<bool, D>& periodic) {
  double sum = 0;
  for (std::size_t axis = 0; axis < D; ++axis) {
    const double k = half_waves(periodic[axis]) * std::numbers::pi /
                     static_cast<double>(intervals(cells[axis], periodic[axis]));
    sum += k * k;
  }
  return sum;
}

template <class Stencil>
[[nodiscard]] Theory theory_of(const std::array<std::int64_t, Stencil::dimensions>& cells,
                               const std::array<bool, Stencil::dimensions>& periodic, double amplitude) {
  std::array<double, Stencil::dimensions> s;
  Theory theory{.squared_norm = 1};
  for (int axis = 0; axis < Stencil::dimensions; ++axis) {
    const auto count = static_cast<double>(intervals(cells[axis], periodic[axis]));
    const double sine = std::sin(half_waves(periodic[axis]) * std::numbers::pi / (2 * count));
    s[axis] = 2 * sine * sine;
    theory.squared_norm *= count / 2;
  }
  theory.gap = gap_of(Stencil{}, s);
  theory.exact_amplitude = amplitude;
  theory.discrete_amplitude =
      amplitude * Stencil::source_weight * scaled_laplacian(cells, periodic) / theory.gap;
  return theory;
}

/// How far rounding may carry an error ratio from lambda^k: each sweep adds up to a few units in the last
/// place, and the iteration forgets all but the last 1 / (1 - lambda) of them.
template <class Real>
[[nodiscard]] double rounding_allowance(const Theory& theory, std::int64_t sweeps) {
  return 4 * static_cast<double>(std::numeric_limits<Real>::epsilon()) *
         std::min(static_cast<double>(sweeps) + 1, 1 / theory.gap);
}

}  // namespace selvage::jacobi
