#pragma once

#include "jacobi/physics/stencil.hpp"

#include <selvage/comm/box.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

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

}  // namespace detail

}  // namespace selvage::jacobi
