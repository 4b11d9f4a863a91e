#pragma once

#include "jacobi/physics/problem.hpp"
#include "jacobi/physics/sweep.hpp"
#include "jacobi/physics/theory.hpp"

#include <selvage/comm/box.hpp>
#include <selvage/comm/grid.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace selvage::jacobi {

/// How a field of the case `dirichlet` differs from what it should be, over some cells.
struct FieldErrors {
  double projection = 0;  ///< sum of (discrete solution - u) g over the cells, g being the mode
  double max_iterate =
      0;                 ///< largest |u - (1 - lambda^k) discrete solution|: the whole of rounding, or a bug
  double max_exact = 0;  ///< largest |u - exact solution|

  KOKKOS_INLINE_FUNCTION void join(const FieldErrors& other) {
    projection += other.projection;
    max_iterate = Kokkos::max(max_iterate, other.max_iterate);
    max_exact = Kokkos::max(max_exact, other.max_exact);
  }
};

namespace detail {

/// Outside of the class that runs it, because nvcc has to name it.
template <class Real, int D>
struct ErrorKernel {
  using value_type = FieldErrors;

  const Real* first_cell;
  Strides<D> stride;
  Kokkos::Array<const double*, D> mode;
  Kokkos::Array<std::int64_t, D> extent;
  double discrete_amplitude;
  double iterate_amplitude;
  double exact_amplitude;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t index, FieldErrors& errors) const {
    const std::int64_t x = index % extent[D - 1];
    std::int64_t row = index / extent[D - 1];
    double g = mode[D - 1][x];
    std::ptrdiff_t cell = static_cast<std::ptrdiff_t>(x);
    if constexpr (D == 3) {
      const std::int64_t z = row / extent[1];
      row -= z * extent[1];
      g *= mode[0][z];
      cell += static_cast<std::ptrdiff_t>(z) * stride.z;
    }
    g *= mode[D - 2][row];
    cell += static_cast<std::ptrdiff_t>(row) * stride.y;
    const auto u = static_cast<double>(first_cell[cell]);
    errors.join({(discrete_amplitude * g - u) * g, Kokkos::abs(u - iterate_amplitude * g),
                 Kokkos::abs(u - exact_amplitude * g)});
  }
  KOKKOS_INLINE_FUNCTION static void init(FieldErrors& errors) { errors = FieldErrors{}; }
  KOKKOS_INLINE_FUNCTION static void join(FieldErrors& errors, const FieldErrors& other) {
    errors.join(other);
  }
};

}  // namespace detail

/// Measures FieldErrors; holds the mode's tables for one rank's box.
template <class Real, int D, class Space>
class ErrorMeter {
 public:
  ErrorMeter(const Space& space, const Grid<D>& grid, const Problem<D>& problem, const Theory& theory)
      : space_(space), theory_(theory), extent_(cell_range(grid.box()).extent) {
    for (int axis = 0; axis < D; ++axis) {
      const auto mode = problem.mode(axis, grid.box().begin[axis], grid.box().end[axis]);
      modes_[axis] = Table("mode", mode.size());
      const auto host = Kokkos::create_mirror_view(modes_[axis]);
      for (std::size_t i = 0; i < mode.size(); ++i) host(i) = mode[i];
      Kokkos::deep_copy(modes_[axis], host);
    }
  }

  /// The errors on this rank after `sweeps` sweeps. Waits for the field. Not collective.
  /// \param first_cell  the box's first cell
  [[nodiscard]] FieldErrors measure(const Real* first_cell, const Strides<D>& stride,
                                    std::int64_t sweeps) const {
    detail::ErrorKernel<Real, D> kernel{first_cell,
                                        stride,
                                        {},
                                        extent_,
                                        theory_.discrete_amplitude,
                                        theory_.discrete_amplitude * (1 - theory_.error(sweeps)),
                                        theory_.exact_amplitude};
    for (int axis = 0; axis < D; ++axis) kernel.mode[axis] = modes_[axis].data();
    std::int64_t cells = 1;
    for (int axis = 0; axis < D; ++axis) cells *= extent_[axis];
    FieldErrors errors;
    Kokkos::parallel_reduce("jacobi::errors",
                            Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space_, 0, cells),
                            kernel, errors);
    return errors;
  }

 private:
  using Table = Kokkos::View<double*, typename Space::memory_space>;

  Space space_;
  Theory theory_;
  Kokkos::Array<std::int64_t, D> extent_;
  std::array<Table, D> modes_;
};

}  // namespace selvage::jacobi
