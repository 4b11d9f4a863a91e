#pragma once

#include "md/cells.hpp"
#include "md/engine_options.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>

namespace selvage::md {

/// Each owned atom's neighbours up to a distance, as a kernel sees them. `neighbours(atom, k)` for k below
/// `counts(atom)` is an index among owned atoms and ghosts. One row per atom on hosts, one column on GPUs.
template <class Space>
struct NeighbourTable {
  Kokkos::View<int**, typename Space::array_layout, typename Space::memory_space> neighbours;
  Kokkos::View<int*, typename Space::memory_space> counts;
};

namespace detail {

/// Finds one atom's neighbours among the cells around its own.
template <class Real, class Space>
struct FindNeighbours {
  static constexpr int reach = CellGrid<Real>::reach;

  NeighbourTable<Space> table;
  Kokkos::View<const Position<Real>*, typename Space::memory_space> positions;
  Kokkos::View<const int*, typename Space::memory_space> begin;
  Kokkos::View<const int*, typename Space::memory_space> order;
  CellGrid<Real> grid;
  Real squared_cutoff;
  int owned;
  bool half;

  /// Whether a half list of `atom` holds the pair. Of the two copies of a pair across a periodic side, each an
  /// owned atom with a ghost, the one whose ghost lies further along z, then y, then x does.
  KOKKOS_FUNCTION bool keeps(int atom, const Position<Real>& x, int other, const Position<Real>& y) const {
    if (!half) return other != atom;
    if (other < owned) return other > atom;
    if (y.z != x.z) return y.z > x.z;
    if (y.y != x.y) return y.y > x.y;
    return y.x > x.x;
  }

  KOKKOS_FUNCTION void operator()(int atom, int& longest) const {
    const Position<Real> x = positions(atom);
    const int cell[3] = {grid.along(0, x.x), grid.along(1, x.y), grid.along(2, x.z)};
    const int room = static_cast<int>(table.neighbours.extent(1));
    int found = 0;
    for (int z = cell[2] - reach; z <= cell[2] + reach; ++z) {
      for (int y = cell[1] - reach; y <= cell[1] + reach; ++y) {
        const int last = begin(grid.index(cell[0] + reach, y, z) + 1);
        for (int k = begin(grid.index(cell[0] - reach, y, z)); k < last; ++k) {
          const int other = order(k);
          const Position<Real> p = positions(other);
          const Real dx = x.x - p.x;
          const Real dy = x.y - p.y;
          const Real dz = x.z - p.z;
          if (dx * dx + dy * dy + dz * dz >= squared_cutoff || !keeps(atom, x, other, p)) continue;
          if (found < room) table.neighbours(atom, found) = other;
          ++found;
        }
      }
    }
    table.counts(atom) = found;
    if (found > longest) longest = found;
  }
};

}  // namespace detail

/// Verlet lists of the owned atoms, by cells. The order of a list is that of cells, so it is the same in every run.
template <class Real, class Space>
class NeighbourList {
 public:
  /// \param cutoff  the force's plus the skin
  NeighbourList(ListKind kind, double cutoff) : kind_(kind), cutoff_(cutoff) {}

  [[nodiscard]] ListKind kind() const { return kind_; }
  [[nodiscard]] const NeighbourTable<Space>& table() const { return table_; }

  /// Lists anew; grows where an atom has more neighbours than there is room for. Waits for the longest list.
  /// \param bins  sorted for owned atoms and ghosts
  void build(const Space& space, const Atoms<Real, Space>& atoms, const CellBins<Real, Space>& bins) {
    if (table_.counts.extent(0) < static_cast<std::size_t>(atoms.owned)) reserve(atoms.owned, room_);
    while (true) {
      const int longest = fill(space, atoms, bins);
      if (longest <= room_) return;
      reserve(atoms.owned, longest + longest / 8);
    }
  }

 private:
  void reserve(int atoms, int room) {
    room_ = room;
    table_ = {};
    const auto rows = static_cast<std::size_t>(atoms);
    table_.counts =
        decltype(table_.counts)(Kokkos::view_alloc("neighbour counts", Kokkos::WithoutInitializing), rows);
    table_.neighbours = decltype(table_.neighbours)(
        Kokkos::view_alloc("neighbours", Kokkos::WithoutInitializing), rows, static_cast<std::size_t>(room));
  }

  int fill(const Space& space, const Atoms<Real, Space>& atoms, const CellBins<Real, Space>& bins) const {
    const detail::FindNeighbours<Real, Space> find{table_,       atoms.positions,
                                                   bins.begin(), bins.order(),
                                                   bins.grid(),  static_cast<Real>(cutoff_ * cutoff_),
                                                   atoms.owned,  kind_ == ListKind::half};
    int longest = 0;
    Kokkos::parallel_reduce("md::find_neighbours", Kokkos::RangePolicy<Space>(space, 0, atoms.owned), find,
                            Kokkos::Max<int>(longest));
    return longest;
  }

  ListKind kind_;
  double cutoff_;
  int room_ = 32;
  NeighbourTable<Space> table_;
};

}  // namespace selvage::md
