#pragma once

#include "md/ghosts/domain.hpp"
#include "md/physics/atoms.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace selvage::md {

/// Cuts the box, and a layer around it for ghosts, into equal cells. No cell holds owned atoms and ghosts, but for
/// rounding. Small enough to travel into kernels.
template <class Real>
struct CellGrid {
  /// Cells along one axis of one cutoff.
  static constexpr int reach = 2;
  /// Cells that there may be with few atoms, and with any number.
  static constexpr double least_room = 1 << 20;
  static constexpr double most_room = 1 << 30;

  Vec3<Real> lower;         ///< of the box
  Vec3<Real> inverse_side;  ///< 1 / the cell's length
  int count[3];             ///< with the ghosts' layers, which are `reach` cells on each side

  /// \param cutoff  as far as neighbours and ghosts are; cells are at least a `reach`th of it long
  /// \param atoms   of all ranks: a gas has longer cells, so that most of them aren't empty
  static CellGrid over(const Domain& domain, double cutoff, std::int64_t atoms) {
    CellGrid grid{};
    double inverse[3];
    const double side = shortest_side(domain, cutoff, atoms);
    for (int axis = 0; axis < 3; ++axis) {
      const int inner = static_cast<int>(inner_cells(domain.length(axis), side));
      grid.count[axis] = inner + 2 * reach;
      inverse[axis] = inner / domain.length(axis);
    }
    grid.lower = {static_cast<Real>(domain.lower[0]), static_cast<Real>(domain.lower[1]),
                  static_cast<Real>(domain.lower[2])};
    grid.inverse_side = {static_cast<Real>(inverse[0]), static_cast<Real>(inverse[1]),
                         static_cast<Real>(inverse[2])};
    return grid;
  }

  [[nodiscard]] int cells() const { return count[0] * count[1] * count[2]; }

  /// As a real number: a box may be too large to count its cells in whole ones.
  [[nodiscard]] static double inner_cells(double length, double side) {
    return std::max(1.0, std::floor(length / side));
  }
  /// Of cells that are few enough to be kept for so many atoms.
  [[nodiscard]] static double shortest_side(const Domain& domain, double cutoff, std::int64_t atoms) {
    const double most = std::clamp(4.0 * static_cast<double>(atoms), least_room, most_room);
    const auto cells = [&](double side) {
      double product = 1;
      for (int axis = 0; axis < 3; ++axis) product *= inner_cells(domain.length(axis), side) + 2 * reach;
      return product;
    };
    double side = cutoff / reach;
    while (cells(side) > most) side *= 1.125;
    return side;
  }

  [[nodiscard]] KOKKOS_FUNCTION int along(int axis, Real x) const {
    const Real from = axis == 0 ? lower.x : axis == 1 ? lower.y : lower.z;
    const Real inverse = axis == 0 ? inverse_side.x : axis == 1 ? inverse_side.y : inverse_side.z;
    const int cell = static_cast<int>(Kokkos::floor((x - from) * inverse)) + reach;
    return cell < 0 ? 0 : cell >= count[axis] ? count[axis] - 1 : cell;
  }
  /// The same for an owned atom, which rounding must not put among the ghosts' cells.
  [[nodiscard]] KOKKOS_FUNCTION int inner(int axis, Real x) const {
    const int cell = along(axis, x);
    const int last = count[axis] - 1 - reach;
    return cell < reach ? reach : cell > last ? last : cell;
  }
  /// Whether cells of ghosts are around an owned atom's cell.
  [[nodiscard]] KOKKOS_FUNCTION bool reaches_ghosts(int x, int y, int z) const {
    return reaches_ghosts(0, x) || reaches_ghosts(1, y) || reaches_ghosts(2, z);
  }
  [[nodiscard]] KOKKOS_FUNCTION bool reaches_ghosts(int axis, int cell) const {
    return cell < 2 * reach || cell >= count[axis] - 2 * reach;
  }
  /// x runs fastest: cells beside each other along x are so in memory.
  [[nodiscard]] KOKKOS_FUNCTION int index(int x, int y, int z) const {
    return (z * count[1] + y) * count[0] + x;
  }
  [[nodiscard]] KOKKOS_FUNCTION int of(const Position<Real>& p) const {
    return index(along(0, p.x), along(1, p.y), along(2, p.z));
  }
};

namespace detail {

/// to[k] = from[order[k]]
template <class Space, class Order, class Array>
void gather(const Space& space, int count, const Order& order, const Array& from, const Array& to) {
  Kokkos::parallel_for(
      "md::reorder", Kokkos::RangePolicy<Space>(space, 0, count),
      KOKKOS_LAMBDA(int k) { to(k) = from(order(k)); });
}

}  // namespace detail

/// Atoms in the order of their cells, by a counting sort. The order within a cell is that of the atoms' indices,
/// so it is the same in every run.
template <class Real, class Space>
class CellBins {
 public:
  template <class T>
  using Array = Kokkos::View<T*, typename Space::memory_space>;

  /// As CellGrid::over().
  CellBins(const Domain& domain, double cutoff, std::int64_t atoms)
      : grid_(CellGrid<Real>::over(domain, cutoff, atoms)),
        begin_("cell begins", grid_.cells() + 1),
        cursor_("cell cursors", grid_.cells()) {}

  [[nodiscard]] const CellGrid<Real>& grid() const { return grid_; }
  /// Cell c holds the atoms order()[begin()[c]] to order()[begin()[c + 1] - 1].
  [[nodiscard]] const Array<int>& begin() const { return begin_; }
  [[nodiscard]] const Array<int>& order() const { return order_; }
  /// The atoms' positions in that order, filled by copy_positions().
  [[nodiscard]] const Array<Position<Real>>& positions() const { return positions_; }

  /// Sorts atoms [0, count). Enqueues.
  void sort(const Space& space, const Array<Position<Real>>& positions, int count) {
    if (order_.extent(0) < static_cast<std::size_t>(count)) {
      order_ = detail::uninitialised<Array<int>>("cell order", positions.extent(0));
    }
    count_atoms(space, positions, count);
    fill(space, positions, count);
    order_within_cells(space);
  }

  /// Puts positions beside each other as cells hold them, for those who walk along cells. Enqueues.
  void copy_positions(const Space& space, const Array<Position<Real>>& positions, int count) {
    if (positions_.extent(0) < static_cast<std::size_t>(count)) {
      positions_ = detail::uninitialised<Array<Position<Real>>>("cell positions", order_.extent(0));
    }
    detail::gather(space, count, order_, positions, positions_);
  }

  void count_atoms(const Space& space, const Array<Position<Real>>& positions, int count) {
    const auto grid = grid_;
    const auto cursor = cursor_;
    const auto begin = begin_;
    const int cells = grid_.cells();
    Kokkos::deep_copy(space, cursor, 0);
    Kokkos::parallel_for(
        "md::count_cells", Kokkos::RangePolicy<Space>(space, 0, count),
        KOKKOS_LAMBDA(int i) { Kokkos::atomic_inc(&cursor(grid.of(positions(i)))); });
    Kokkos::parallel_scan(
        "md::begin_cells", Kokkos::RangePolicy<Space>(space, 0, cells + 1),
        KOKKOS_LAMBDA(int cell, int& sum, bool last) {
          const int here = cell < cells ? cursor(cell) : 0;
          if (last) {
            begin(cell) = sum;
            if (cell < cells) cursor(cell) = sum;
          }
          sum += here;
        });
  }

  void fill(const Space& space, const Array<Position<Real>>& positions, int count) {
    const auto grid = grid_;
    const auto cursor = cursor_;
    const auto order = order_;
    Kokkos::parallel_for(
        "md::fill_cells", Kokkos::RangePolicy<Space>(space, 0, count),
        KOKKOS_LAMBDA(int i) { order(Kokkos::atomic_fetch_inc(&cursor(grid.of(positions(i))))) = i; });
  }

  /// Cells hold few atoms, and on one thread they are in order already.
  void order_within_cells(const Space& space) {
    const auto begin = begin_;
    const auto order = order_;
    Kokkos::parallel_for(
        "md::order_cells", Kokkos::RangePolicy<Space>(space, 0, grid_.cells()), KOKKOS_LAMBDA(int cell) {
          const int first = begin(cell);
          for (int k = first + 1; k < begin(cell + 1); ++k) {
            const int atom = order(k);
            int place = k;
            for (; place > first && order(place - 1) > atom; --place) order(place) = order(place - 1);
            order(place) = atom;
          }
        });
  }

 private:
  CellGrid<Real> grid_;
  Array<int> begin_;
  Array<int> cursor_;
  Array<int> order_;
  Array<Position<Real>> positions_;
};

/// Puts owned atoms into the order of their cells, so that neighbours in space are neighbours in memory. Forces
/// are not carried along. Enqueues, but where `spare` must grow.
/// \param bins   sorted for the owned atoms
/// \param spare  arrays that the atoms' take turns with: allocating each time would take longer than the copies
template <class Real, class Space>
void reorder(const Space& space, Atoms<Real, Space>& atoms, Atoms<Real, Space>& spare,
             const CellBins<Real, Space>& bins) {
  const auto reserve = [](auto& array, const auto& like, const char* label) {
    if (array.extent(0) < like.extent(0))
      array = detail::uninitialised<std::decay_t<decltype(array)>>(label, like.extent(0));
  };
  reserve(spare.positions, atoms.positions, "positions");
  reserve(spare.velocities, atoms.velocities, "velocities");
  reserve(spare.ids, atoms.ids, "ids");
  reserve(spare.images, atoms.images, "images");
  const auto order = bins.order();
  const auto from = atoms;
  const auto to = spare;
  Kokkos::parallel_for(
      "md::reorder", Kokkos::RangePolicy<Space>(space, 0, atoms.owned), KOKKOS_LAMBDA(int k) {
        const int atom = order(k);
        to.positions(k) = from.positions(atom);
        to.velocities(k) = from.velocities(atom);
        to.ids(k) = from.ids(atom);
        to.images(k) = from.images(atom);
      });
  std::swap(atoms.positions, spare.positions);
  std::swap(atoms.velocities, spare.velocities);
  std::swap(atoms.ids, spare.ids);
  std::swap(atoms.images, spare.images);
}

}  // namespace selvage::md
