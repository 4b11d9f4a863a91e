#pragma once

#include "jacobi/stencil.hpp"

#include <selvage/comm/box.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace selvage::jacobi {

/// The source term as a product of one table per axis, so that it costs no memory traffic. Tables are indexed
/// like a View's axis, ghosts included, and live in the sweep's memory space; null without a source.
template <class Real, int D>
struct SourceTables {
  Kokkos::Array<const Real*, D> axis;
};

/// What a sweep reads and writes: two fields of one shape, rows contiguous.
template <class Real, int D>
struct SweepFields {
  const Real* from;  ///< the allocation's first cell, ghosts included
  Real* to;
  Strides<D> stride;
  SourceTables<Real, D> source;
};

/// A Box that kernels can hold: local cells, ghosts included in the count.
template <int D>
struct CellRange {
  Kokkos::Array<std::int64_t, D> begin;
  Kokkos::Array<std::int64_t, D> extent;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t rows() const {
    std::int64_t product = 1;
    for (int axis = 0; axis + 1 < D; ++axis) product *= extent[axis];
    return product;
  }
};

template <int D>
[[nodiscard]] CellRange<D> cell_range(const Box<D>& box) {
  CellRange<D> range;
  for (int axis = 0; axis < D; ++axis) {
    range.begin[axis] = box.begin[axis];
    range.extent[axis] = box.extent(axis);
  }
  return range;
}

namespace detail {

/// Where a row of x begins: its offset in the field, and the source's factor for it.
template <class Real>
struct Row {
  std::ptrdiff_t offset;
  Real source_factor;
};

template <bool has_source, class Real>
KOKKOS_FORCEINLINE_FUNCTION Row<Real> locate_row(const SweepFields<Real, 2>& fields, std::int64_t y) {
  Real factor = 0;
  if constexpr (has_source) factor = fields.source.axis[0][y];
  return {static_cast<std::ptrdiff_t>(y) * fields.stride.y, factor};
}

template <bool has_source, class Real>
KOKKOS_FORCEINLINE_FUNCTION Row<Real> locate_row(const SweepFields<Real, 3>& fields, std::int64_t z,
                                                 std::int64_t y) {
  Real factor = 0;
  if constexpr (has_source) factor = fields.source.axis[0][z] * fields.source.axis[1][y];
  return {static_cast<std::ptrdiff_t>(z) * fields.stride.z + static_cast<std::ptrdiff_t>(y) * fields.stride.y,
          factor};
}

/// The one place where a new value is made of a sum.
template <class Stencil, bool has_source, class Real>
KOKKOS_FORCEINLINE_FUNCTION Real relax(Real sum, Real source_factor, const Real* source_x, std::int64_t x) {
  if constexpr (has_source) sum += source_factor * source_x[x];
  return static_cast<Real>(Stencil::weight) * sum;
}

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

/// Devices: one thread per cell, x first so that neighbouring threads read neighbouring cells.
template <class Real, class Stencil, bool has_source>
struct CellSweep {
  static constexpr int D = Stencil::dimensions;
  SweepFields<Real, D> fields;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t x, std::int64_t y) const { sweep(x, row(y)); }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t x, std::int64_t y, double& sum) const {
    sum += sweep(x, row(y));
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t x, std::int64_t y, std::int64_t z) const {
    sweep(x, row(z, y));
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t x, std::int64_t y, std::int64_t z,
                                              double& sum) const {
    sum += sweep(x, row(z, y));
  }

 private:
  template <class... Index>
  KOKKOS_FORCEINLINE_FUNCTION Row<Real> row(Index... index) const {
    return locate_row<has_source>(fields, index...);
  }

  KOKKOS_FORCEINLINE_FUNCTION double sweep(std::int64_t x, const Row<Real>& row) const {
    const std::ptrdiff_t cell = row.offset + static_cast<std::ptrdiff_t>(x);
    const Real before = fields.from[cell];
    const Real sum = Stencil::sum(fields.from + cell, fields.stride);
    const Real after = relax<Stencil, has_source>(sum, row.source_factor, fields.source.axis[D - 1], x);
    fields.to[cell] = after;
    const double change = static_cast<double>(after) - static_cast<double>(before);
    return change * change;
  }
};

template <class Space>
inline constexpr bool runs_on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;

template <class Space, int D>
[[nodiscard]] auto row_policy(const Space& space, const CellRange<D>& range) {
  return Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, range.rows());
}

template <class Space, int D>
[[nodiscard]] auto cell_policy(const Space& space, const CellRange<D>& range) {
  using Policy = Kokkos::MDRangePolicy<Space, Kokkos::Rank<D, Kokkos::Iterate::Left, Kokkos::Iterate::Left>,
                                       Kokkos::IndexType<std::int64_t>>;
  Kokkos::Array<std::int64_t, D> begin;
  Kokkos::Array<std::int64_t, D> end;
  for (int axis = 0; axis < D; ++axis) {
    begin[axis] = range.begin[D - 1 - axis];
    end[axis] = begin[axis] + range.extent[D - 1 - axis];
  }
  return Policy(space, begin, end);
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
void sweep(const Space& space, const std::string& label, const SweepFields<Real, Stencil::dimensions>& fields,
           const CellRange<Stencil::dimensions>& range, double* squared_change_sum) {
  if constexpr (runs_on_host<Space>) {
    run<Space>(label, row_policy(space, range), RowSweep<Real, Stencil, has_source>{fields, range},
               squared_change_sum);
  } else {
    run<Space>(label, cell_policy(space, range), CellSweep<Real, Stencil, has_source>{fields},
               squared_change_sum);
  }
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
