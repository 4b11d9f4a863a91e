#pragma once

#include "jacobi/cuda/launch_blocks.hpp"
#include "jacobi/physics/sweep_fields.hpp"

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace selvage::jacobi::detail {

/// Cells that one thread of a device makes: `along_x` of a row, in `layers` rows (2D) or planes (3D).
template <class Real, int D>
struct BlockShape {
  static constexpr int layers = D == 2 ? 4 : 2;
  /// Of a row, in one access of 8 bytes, where rows allow that: less doesn't keep memory busy.
  static constexpr int widest = 8 / sizeof(Real);
};

/// Devices. Each thread loads all that its cells read, then computes, then stores: many loads are under way at a
/// time, and what cells share is loaded once. Neighbouring threads read neighbouring cells.
template <class Real, class Stencil, bool has_source, int along_x>
struct BlockSweep {
  static constexpr int D = Stencil::dimensions;
  static constexpr int layers = BlockShape<Real, D>::layers;
  SweepFields<Real, D> fields;
  CellRange<D> range;

  /// Packs of a row from the first aligned one on; in 3D rows of a plane; groups of layers.
  KOKKOS_FORCEINLINE_FUNCTION Kokkos::Array<std::int64_t, 3> extents() const {
    const std::int64_t packs = (range.begin[D - 1] % along_x + range.extent[D - 1] + along_x - 1) / along_x;
    const std::int64_t groups = (range.extent[0] + layers - 1) / layers;
    if constexpr (D == 2) return {packs, groups, 1};
    if constexpr (D == 3) return {packs, range.extent[1], groups};
  }

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    sweep(i, j, k);
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k,
                                              double& sum) const {
    sum += sweep(i, j, k);
  }

 private:
  struct alignas(along_x * sizeof(Real)) Pack {
    Real cell[along_x];
  };
  /// What the cells read: layers with one more on both sides, in 3D of three rows each, with a cell at both ends.
  static constexpr int rows = D == 2 ? 1 : 3;
  static constexpr int row_cells = along_x + 2;
  template <int count>
  using Patch = Real[(count + 2) * rows * row_cells];
  /// Of the cell before the first one that is made, in a layer of the patch.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int patch_row(int layer, int row) {
    return (layer * rows + row) * row_cells;
  }

  KOKKOS_FORCEINLINE_FUNCTION static Strides<D> patch_strides() {
    if constexpr (D == 2) return {row_cells};
    if constexpr (D == 3) return {rows * row_cells, row_cells};
  }
  KOKKOS_FORCEINLINE_FUNCTION std::ptrdiff_t layer_stride() const {
    if constexpr (D == 2) return fields.stride.y;
    if constexpr (D == 3) return fields.stride.z;
  }
  template <class... Y>
  KOKKOS_FORCEINLINE_FUNCTION Row<Real> locate(std::int64_t layer, Y... y) const {
    return locate_row<has_source>(fields, layer, y...);
  }

  /// \return the squared change
  KOKKOS_FORCEINLINE_FUNCTION double sweep(std::int64_t i, std::int64_t j, std::int64_t k) const {
    if constexpr (D == 2) return sweep_layers(i, j);
    if constexpr (D == 3) return sweep_layers(i, k, range.begin[1] + j);
  }

  template <class... Y>
  KOKKOS_FORCEINLINE_FUNCTION double sweep_layers(std::int64_t i, std::int64_t group, Y... y) const {
    const std::int64_t layer = range.begin[0] + group * layers;
    const std::int64_t left = range.begin[0] + range.extent[0] - layer;
    // The last group by itself, so that the others have no branch between their loads.
    if (left >= layers) return sweep_group<layers>(i, layer, y...);
    double change = 0;
    for (std::int64_t k = 0; k < left; ++k) change += sweep_group<1>(i, layer + k, y...);
    return change;
  }

  template <int count, class... Y>
  KOKKOS_FORCEINLINE_FUNCTION double sweep_group(std::int64_t i, std::int64_t layer, Y... y) const {
    const std::int64_t begin = range.begin[D - 1];
    const std::int64_t x = begin - begin % along_x + i * along_x;
    Patch<count> patch;
    load<count>(patch, fields.from + locate(layer, y...).offset + static_cast<std::ptrdiff_t>(x), x);
    double change = 0;
#pragma unroll
    for (int k = 0; k < count; ++k)
      change += finish_layer(patch + patch_row(k + 1, rows / 2), x, locate(layer + k, y...));
    return change;
  }

  KOKKOS_FORCEINLINE_FUNCTION bool is_inside(std::int64_t x) const {
    // Packs of one cell begin with the range.
    return along_x == 1 || (x >= range.begin[D - 1] && x < range.begin[D - 1] + range.extent[D - 1]);
  }

  template <int count>
  KOKKOS_FORCEINLINE_FUNCTION void load(Patch<count>& patch, const Real* from, std::int64_t x) const {
#pragma unroll
    for (int k = 0; k < count + 2; ++k) {
#pragma unroll
      for (int row = 0; row < rows; ++row) {
        const Real* cells = from + (k - 1) * layer_stride();
        if constexpr (D == 3) cells += (row - 1) * fields.stride.y;
        const Pack pack = *reinterpret_cast<const Pack*>(cells);
#pragma unroll
        for (int p = 0; p < along_x; ++p) patch[patch_row(k, row) + 1 + p] = pack.cell[p];
        // What only cells outside of the range read may lie outside of the field.
        patch[patch_row(k, row)] = is_inside(x) ? cells[-1] : Real(0);
        patch[patch_row(k, row) + along_x + 1] = is_inside(x + along_x - 1) ? cells[along_x] : Real(0);
      }
    }
  }

  /// \return the squared change
  KOKKOS_FORCEINLINE_FUNCTION double finish_layer(const Real* from, std::int64_t x,
                                                  const Row<Real>& row) const {
    Pack result;
    double sum = 0;
    bool all_inside = true;
#pragma unroll
    for (int p = 0; p < along_x; ++p) {
      const Real* const cell = from + 1 + p;
      const bool inside = is_inside(x + p);
      all_inside = all_inside && inside;
      const Real source = has_source && inside ? fields.source.axis[D - 1][x + p] : Real(0);
      result.cell[p] =
          relax<Stencil, has_source>(Stencil::sum(cell, patch_strides()), row.source_factor, &source, 0);
      const double change = static_cast<double>(result.cell[p]) - static_cast<double>(*cell);
      if (inside) sum += change * change;
    }
    Real* const to = fields.to + row.offset + static_cast<std::ptrdiff_t>(x);
    if (all_inside) {
      *reinterpret_cast<Pack*>(to) = result;
      return sum;
    }
#pragma unroll
    for (int p = 0; p < along_x; ++p) {
      if (is_inside(x + p)) to[p] = result.cell[p];
    }
    return sum;
  }
};

/// Whether packs of `along_x` cells lie on multiples of their size in every row.
template <class Real, int D>
[[nodiscard]] bool packs_fit(const SweepFields<Real, D>& fields, int along_x) {
  const auto bytes = static_cast<std::uintptr_t>(along_x) * sizeof(Real);
  std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(fields.from) |
                        reinterpret_cast<std::uintptr_t>(fields.to) |
                        static_cast<std::uintptr_t>(fields.stride.y) * sizeof(Real);
  if constexpr (D == 3) bits |= static_cast<std::uintptr_t>(fields.stride.z) * sizeof(Real);
  return bits % bytes == 0;
}

/// Every index of a BlockSweep, for the sum of squared changes.
template <class Sweep>
[[nodiscard]] auto block_policy(const Kokkos::Cuda& space, const Sweep& sweep) {
  using Policy =
      Kokkos::MDRangePolicy<Kokkos::Cuda, Kokkos::Rank<3, Kokkos::Iterate::Left, Kokkos::Iterate::Left>,
                            Kokkos::IndexType<std::int64_t>>;
  const auto extents = sweep.extents();
  return Policy(space, {0, 0, 0}, {extents[0], extents[1], extents[2]}, {64, 4, 1});
}

template <class Stencil, bool has_source, int along_x, class Real>
void sweep_blocks(const Kokkos::Cuda& space, const std::string& label,
                  const SweepFields<Real, Stencil::dimensions>& fields,
                  const CellRange<Stencil::dimensions>& range, double* squared_change_sum) {
  const BlockSweep<Real, Stencil, has_source, along_x> blocks{fields, range};
  if (squared_change_sum == nullptr) return cuda::launch_blocks(space, label, blocks, blocks.extents());
  double sum = 0;
  Kokkos::parallel_reduce(label, block_policy(space, blocks), blocks, sum);
  *squared_change_sum += sum;
}

/// The sweep of GPUs, beside that of hosts.
template <class Stencil, bool has_source, class Real>
void sweep(const Kokkos::Cuda& space, const std::string& label,
           const SweepFields<Real, Stencil::dimensions>& fields, const CellRange<Stencil::dimensions>& range,
           double* squared_change_sum) {
  constexpr int widest = BlockShape<Real, Stencil::dimensions>::widest;
  if (packs_fit(fields, widest)) {
    sweep_blocks<Stencil, has_source, widest>(space, label, fields, range, squared_change_sum);
  } else {
    sweep_blocks<Stencil, has_source, 1>(space, label, fields, range, squared_change_sum);
  }
}

}  // namespace selvage::jacobi::detail
