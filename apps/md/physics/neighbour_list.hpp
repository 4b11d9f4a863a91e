#pragma once

#include "md/engine_options.hpp"
#include "md/physics/atom_teams.hpp"
#include "md/physics/cells.hpp"
#include "md/physics/mirrored.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>

namespace selvage::md {

/// Each owned atom's neighbours up to a distance, as a kernel sees them. `neighbours(atom, k)` for k below
/// `counts(atom)` is an index among owned atoms and ghosts. One row per atom on hosts, one column on GPUs.
template <class Space>
struct NeighbourTable {
  Kokkos::View<int**, typename Space::array_layout, typename Space::memory_space> neighbours;
  Kokkos::View<int*, typename Space::memory_space> counts;
  Kokkos::View<bool*, typename Space::memory_space> at_side;  ///< false: none of the neighbours is a ghost
};

namespace detail {

/// Finds one atom's neighbours among the cells around its own.
template <class Real, class Space>
struct FindNeighbours {
  static constexpr int reach = CellGrid<Real>::reach;

  static constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;
  template <class T>
  using Array = Kokkos::View<const T*, typename Space::memory_space>;

  NeighbourTable<Space> table;
  Array<Position<Real>> positions;  ///< by atom
  Array<Position<Real>> walked;     ///< in the order of cells
  Array<int> begin;
  Array<int> order;
  CellGrid<Real> grid;
  Kokkos::View<int, typename Space::memory_space> longest;  ///< of the lists that there was no room for
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

  /// Rows of cells along x around an atom's own: all the places where it may have neighbours.
  struct Rows {
    static constexpr int count = (2 * reach + 1) * (2 * reach + 1);
    int cell[3];
  };
  struct Places {
    int first, last;
  };
  [[nodiscard]] KOKKOS_FUNCTION Rows rows_around(const Position<Real>& x) const {
    return {{grid.inner(0, x.x), grid.inner(1, x.y), grid.inner(2, x.z)}};
  }
  [[nodiscard]] KOKKOS_FUNCTION Places places(const Rows& rows, int row) const {
    const int y = rows.cell[1] - reach + row % (2 * reach + 1);
    const int z = rows.cell[2] - reach + row / (2 * reach + 1);
    return {begin(grid.index(rows.cell[0] - reach, y, z)), begin(grid.index(rows.cell[0] + reach, y, z) + 1)};
  }

  KOKKOS_FUNCTION void operator()(int atom) const {
    const Position<Real> x = positions(atom);
    const Rows rows = rows_around(x);
    int found = 0;
    for (int row = 0; row < Rows::count; ++row) {
      const Places walk = places(rows, row);
      if constexpr (on_host) {
        found = add_branchless(atom, x, walk.first, walk.last, found);
      } else {
        found = add(atom, x, walk.first, walk.last, found);
      }
    }
    finish(atom, rows, found);
  }
  KOKKOS_FUNCTION void finish(int atom, const Rows& rows, int found) const {
    table.counts(atom) = found;
    table.at_side(atom) = grid.reaches_ghosts(rows.cell[0], rows.cell[1], rows.cell[2]);
    if (found > static_cast<int>(table.neighbours.extent(1))) Kokkos::atomic_max(&longest(), found);
  }

  /// Adds the neighbours among places [first, last) in the order of cells. \return how many there are then
  KOKKOS_FUNCTION int add(int atom, const Position<Real>& x, int first, int last, int found) const {
    const int room = static_cast<int>(table.neighbours.extent(1));
    for (int k = first; k < last; ++k) {
      if (squared_distance(x, walked(k)) >= squared_cutoff || !keeps(atom, x, order(k), walked(k))) continue;
      if (found < room) table.neighbours(atom, found) = order(k);
      ++found;
    }
    return found;
  }

  /// \return how many there would be
  KOKKOS_FUNCTION int count(int atom, const Position<Real>& x, int first, int last, int found) const {
    for (int k = first; k < last; ++k)
      found += squared_distance(x, walked(k)) < squared_cutoff && keeps(atom, x, order(k), walked(k)) ? 1 : 0;
    return found;
  }

  /// The same for hosts, whose branch prediction has no chance here: distances first, as vectors, then every
  /// candidate is stored and the next one overwrites it if it isn't a neighbour.
  KOKKOS_FUNCTION int add_branchless(int atom, const Position<Real>& x, int first, int last,
                                     int found) const {
    constexpr int chunk = 64;
    const int room = static_cast<int>(table.neighbours.extent(1));
    const Position<Real>* const candidates = walked.data();
    for (; first < last; first += chunk) {
      const int count = last - first < chunk ? last - first : chunk;
      if (found + count > room) return add(atom, x, first, last, found);
      int near[chunk];
#pragma omp simd
      for (int k = 0; k < count; ++k) near[k] = squared_distance(x, candidates[first + k]) < squared_cutoff;
      for (int k = 0; k < count; ++k) {
        const int other = order(first + k);
        table.neighbours(atom, found) = other;
        found += near[k] & static_cast<int>(keeps(atom, x, other, candidates[first + k]));
      }
    }
    return found;
  }

  KOKKOS_FUNCTION static Real squared_distance(const Position<Real>& x, const Position<Real>& y) {
    const Real dx = x.x - y.x;
    const Real dy = x.y - y.y;
    const Real dz = x.z - y.z;
    return dx * dx + dy * dy + dz * dz;
  }
};

/// The same lists by several lanes for an atom: first each counts what its rows hold, then it knows where that goes.
template <class Real, class Space>
struct FindNeighboursByLanes {
  using Find = FindNeighbours<Real, Space>;
  using Team = typename AtomTeams<Space>::Team;

  Find find;
  AtomTeams<Space> teams;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    teams.each(team, [&](int atom) { list(team, atom); });
  }

 private:
  KOKKOS_FUNCTION void list(const Team& team, int atom) const {
    const Position<Real> x = find.positions(atom);
    const auto rows = find.rows_around(x);
    int found = 0;
    Kokkos::parallel_scan(
        Kokkos::ThreadVectorRange(team, Find::Rows::count),
        [&](int row, int& sum, bool is_final) {
          const auto walk = find.places(rows, row);
          sum = is_final ? find.add(atom, x, walk.first, walk.last, sum)
                         : find.count(atom, x, walk.first, walk.last, sum);
        },
        found);
    Kokkos::single(Kokkos::PerThread(team), [&]() { find.finish(atom, rows, found); });
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
  /// \param bins  sorted for owned atoms and ghosts, with their positions
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
    // Some more, since atoms come and go where there are several ranks.
    const auto rows = static_cast<std::size_t>(atoms) + static_cast<std::size_t>(atoms) / 32;
    table_.counts =
        decltype(table_.counts)(Kokkos::view_alloc("neighbour counts", Kokkos::WithoutInitializing), rows);
    table_.at_side =
        decltype(table_.at_side)(Kokkos::view_alloc("atoms at sides", Kokkos::WithoutInitializing), rows);
    table_.neighbours = decltype(table_.neighbours)(
        Kokkos::view_alloc("neighbours", Kokkos::WithoutInitializing), rows, static_cast<std::size_t>(room));
  }

  int fill(const Space& space, const Atoms<Real, Space>& atoms, const CellBins<Real, Space>& bins) const {
    const detail::FindNeighbours<Real, Space> find{table_,
                                                   atoms.positions,
                                                   bins.positions(),
                                                   bins.begin(),
                                                   bins.order(),
                                                   bins.grid(),
                                                   longest_.view(),
                                                   static_cast<Real>(cutoff_ * cutoff_),
                                                   atoms.owned,

                                                   kind_ == ListKind::half};
    const AtomTeams<Space> teams(space, atoms.owned, 32);
    if (teams.lanes() > 1) {
      Kokkos::parallel_for("md::find_neighbours", teams.policy(space),
                           detail::FindNeighboursByLanes<Real, Space>{find, teams});
    } else {
      Kokkos::parallel_for("md::find_neighbours", Kokkos::RangePolicy<Space>(space, 0, atoms.owned), find);
    }
    return longest_.read(space);
  }

  ListKind kind_;
  double cutoff_;
  int room_ = 32;
  NeighbourTable<Space> table_;
  Mirrored<int, Space> longest_{"longest list"};  ///< ever, but for those that there was room for
};

}  // namespace selvage::md
