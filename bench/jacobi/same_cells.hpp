#pragma once

#include "jacobi/solver.hpp"

#include <selvage/error.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace selvage::bench {

struct PlaneStrides {
  std::int64_t row;
  std::int64_t plane;
};
template <int D>
[[nodiscard]] PlaneStrides plane_strides(const jacobi::Strides<D>& strides) {
  if constexpr (D == 3)
    return {strides.y, strides.z};
  else
    return {strides.y, 0};
}

/// This rank's cells of two solvers of one problem whose bits differ. They are compared where they lie: a field may have
/// gigabytes.
template <class Real, class Stencil>
[[nodiscard]] std::int64_t count_differing(const jacobi::Solver<Real, Stencil>& one,
                                           const jacobi::Solver<Real, Stencil>& other) {
  constexpr int D = Stencil::dimensions;
  using Space = Kokkos::DefaultExecutionSpace;
  using Bits = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
  const Box<D> box = one.grid().box();
  const std::int64_t rows = box.extent(D - 2);
  const std::int64_t width = box.extent(D - 1);
  const Real* const a = one.first_cell();
  const Real* const b = other.first_cell();
  const PlaneStrides in_one = plane_strides<D>(one.strides());
  const PlaneStrides in_other = plane_strides<D>(other.strides());
  one.space().fence("bench: before comparing cells");
  other.space().fence("bench: before comparing cells");
  std::int64_t differing = 0;
  Kokkos::parallel_reduce(
      "bench::count_differing", Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(0, box.cells()),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t & count) {
        const std::int64_t row = i / width;
        const std::int64_t x = i % width;
        const std::int64_t y = row % rows;
        const std::int64_t z = row / rows;
        const Real first = a[x + y * in_one.row + z * in_one.plane];
        const Real second = b[x + y * in_other.row + z * in_other.plane];
        if (Kokkos::bit_cast<Bits>(first) != Kokkos::bit_cast<Bits>(second)) ++count;
      },
      differing);
  return differing;
}

/// This rank's sums of squared changes of one sweep, which forms add up in unlike orders.
template <class Real>
[[nodiscard]] bool agree(double norm, double other) {
  constexpr double tolerance = sizeof(Real) == 4 ? 1e-4 : 1e-9;
  return std::abs(norm - other) <= tolerance * norm;
}

/// Advances forms of one problem, which may have made different numbers of sweeps, to the same number, and then runs each as it
/// is timed. Collective.
/// \param run  given a form: makes some sweeps, the same number for each, and returns what it has of the last one's norm
/// \throws Error{verification} where a rank's cells, or its parts of the norm, then differ
template <class Real, class Stencil, class Run>
void verify_forms(const std::vector<jacobi::Solver<Real, Stencil>*>& forms, const Run& run) {
  std::int64_t most = 0;
  for (const auto* const form : forms) most = std::max(most, form->step());
  int differing = 0;
  double norm = 0;
  for (auto* const form : forms) {
    form->advance(most - form->step());
    const double own = run(*form);
    if (form == forms.front()) norm = own;
    if (count_differing(*forms.front(), *form) > 0 || !agree<Real>(norm, own)) ++differing;
  }
  MPI_Allreduce(MPI_IN_PLACE, &differing, 1, MPI_INT, MPI_SUM, forms.front()->grid().comm());
  if (differing > 0)
    throw Error(ErrorKind::verification, fmt::format("{} forms leave different fields or norms", differing));
}

}  // namespace selvage::bench
