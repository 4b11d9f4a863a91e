#pragma once

#include "jacobi/physics/sweep_fields.hpp"

#include <selvage/comm/box.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#ifdef KOKKOS_ENABLE_CUDA
#include "jacobi/cuda/block_sweep.hpp"
#endif

namespace selvage::jacobi {

namespace detail {

/// One row on a host. `from`, `to` and `source_x` point at the row's first cell; they don't overlap.
template <class Stencil, bool has_source, class Real, class Stride>
KOKKOS_FORCEINLINE_FUNCTION void sweep_row(const Real* __restrict__ from, Real* __restrict__ to,
                                           const Stride& stride, std::int64_t cells, Real source_factor,
                                           const Real* __restrict__ source_x) {
  if constexpr (SharesColumns<Stencil>) {
    // Blocks of x whose column sums stay in the first-level cache.
    constexpr std::int64_t block_cells = 512;
    Real columns[block_cells + 2];
    for (std::int64_t first = 0; first < cells; first += block_cells) {
      const std::int64_t count = cells - first < block_cells ? cells - first : block_cells;
      for (std::int64_t i = 0; i < count + 2; ++i) columns[i] = Stencil::column(from + first + i - 1, stride);
      for (std::int64_t i = 0; i < count; ++i) {
        const Real sum = Stencil::combine(columns[i], columns[i + 1], columns[i + 2], from + first + i);
        to[first + i] = relax<Stencil, has_source>(sum, source_factor, source_x, first + i);
      }
    }
  } else {
    for (std::int64_t x = 0; x < cells; ++x) {
      to[x] = relax<Stencil, has_source>(Stencil::sum(from + x, stride), source_factor, source_x, x);
    }
  }
}

/// Sum of the squares of to - from over one row. Eight partial sums, so that it vectorises with its order
/// fixed.
template <class Real>
KOKKOS_FORCEINLINE_FUNCTION double squared_change(const Real* __restrict__ from, const Real* __restrict__ to,
                                                  std::int64_t cells) {
  constexpr int lanes = 8;
  double partial[lanes] = {};
  std::int64_t x = 0;
  for (; x + lanes <= cells; x += lanes) {
    for (int lane = 0; lane < lanes; ++lane) {
      const double change = static_cast<double>(to[x + lane]) - static_cast<double>(from[x + lane]);
      partial[lane] += change * change;
    }
  }
  double sum = 0;
  for (; x < cells; ++x) {
    const double change = static_cast<double>(to[x]) - static_cast<double>(from[x]);
    sum += change * change;
  }
  for (int lane = 0; lane < lanes; ++lane) sum += partial[lane];
  return sum;
}

/// Hosts: one call per row, whose inner loop vectorises.
template <class Real, class Stencil, bool has_source>
struct RowSweep {
  static constexpr int D = Stencil::dimensions;
  SweepFields<Real, D> fields;
  CellRange<D> range;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index) const { sweep(locate(index)); }

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, double& sum) const {
    const Row<Real> row = locate(index);
    sweep(row);
    // The row is still in the first-level cache, and the sweep's loop stays free of a reduction.
    sum += squared_change(fields.from + row.offset, fields.to + row.offset, range.extent[D - 1]);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void sweep(const Row<Real>& row) const {
    const Real* source_x = nullptr;
    if constexpr (has_source) source_x = fields.source.axis[D - 1] + range.begin[D - 1];
    sweep_row<Stencil, has_source>(fields.from + row.offset, fields.to + row.offset, fields.stride,
                                   range.extent[D - 1], row.source_factor, source_x);
  }

  KOKKOS_FORCEINLINE_FUNCTION Row<Real> locate(std::int64_t index) const {
    Row<Real> row{};
    if constexpr (D == 2) {
      row = locate_row<has_source>(fields, range.begin[0] + index);
    } else {
      row = locate_row<has_source>(fields, range.begin[0] + index / range.extent[1],
                                   range.begin[1] + index % range.extent[1]);
    }
    row.offset += range.begin[D - 1];
    return row;
  }
};

template <class Space>
inline constexpr bool runs_on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;

template <class Space, int D>
[[nodiscard]] auto row_policy(const Space& space, const CellRange<D>& range) {
  return Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, range.rows());
}

template <class Space, class Functor, class Policy>
void run(const std::string& label, const Policy& policy, const Functor& functor, double* squared_change_sum) {
  if (squared_change_sum == nullptr) {
    Kokkos::parallel_for(label, policy, functor);
    return;
  }
  double sum = 0;
  Kokkos::parallel_reduce(label, policy, functor, sum);
  *squared_change_sum += sum;
}

template <class Stencil, bool has_source, class Space, class Real>
requires runs_on_host<Space>
void sweep(const Space& space, const std::string& label, const SweepFields<Real, Stencil::dimensions>& fields,
           const CellRange<Stencil::dimensions>& range, double* squared_change_sum) {
  run<Space>(label, row_policy(space, range), RowSweep<Real, Stencil, has_source>{fields, range},
             squared_change_sum);
}

}  // namespace detail

/// One Jacobi sweep over a box of local cells (ghosts counted), enqueued on `space`.
///
/// \param label               the kernel's name, e.g. "jacobi::interior"
/// \param squared_change_sum  if given, the sum over the box of (new - old)^2 is added to it, which waits for
/// the
///                            sweep; host memory
template <class Stencil, class Space, class Real>
void sweep(const Space& space, const std::string& label, const SweepFields<Real, Stencil::dimensions>& fields,
           const Box<Stencil::dimensions>& box, double* squared_change_sum = nullptr) {
  const CellRange<Stencil::dimensions> range = cell_range(box);
  if (fields.source.axis[0] != nullptr) {
    detail::sweep<Stencil, true>(space, label, fields, range, squared_change_sum);
  } else {
    detail::sweep<Stencil, false>(space, label, fields, range, squared_change_sum);
  }
}

}  // namespace selvage::jacobi
