#pragma once

#include "md/ghosts/decomposition.hpp"
#include "md/io/state.hpp"
#include "md/physics/vectors.hpp"

#include <Kokkos_Core.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace selvage::md {

/// A decomposition's planes as kernels read them: which box a position lies in. Small enough to travel into kernels;
/// the rows lie elsewhere (Decomposition::planes).
template <class Real>
struct PlaneTable {
  const Real* rows[3];
  int ranks[3];

  /// The box along `axis` that `p` lies in, by a row of planes. Positions beyond the sides belong to the outermost.
  KOKKOS_FUNCTION int along(int axis, int row, Real x) const {
    const Real* const planes = rows[axis] + row * (ranks[axis] + 1);
    int i = 0;
    while (i + 1 < ranks[axis] && x >= planes[i + 1]) ++i;
    return i;
  }
  /// Which row of planes across `axis` is for `p`.
  KOKKOS_FUNCTION int row(int axis, const Position<Real>& p) const {
    if (axis == 0) return 0;
    const int slab = along(0, 0, p.x);
    return axis == 1 ? slab : along(1, slab, p.y) * ranks[0] + slab;
  }
  KOKKOS_FUNCTION int owner(const Position<Real>& p) const {
    const int column = row(2, p);
    return along(2, column, p.z) * ranks[0] * ranks[1] + column;
  }
};

/// Where along an axis atoms are counted, for Decomposition::balance().
template <class Real>
struct PlaneBins {
  PlaneTable<Real> planes;
  int axis;
  Real lower;
  Real bins_per_length;

  static PlaneBins with(const PlaneTable<Real>& planes, const Domain& domain, int axis) {
    return {planes, axis, static_cast<Real>(domain.lower[axis]),
            static_cast<Real>(Decomposition::bins / domain.length(axis))};
  }
  KOKKOS_FUNCTION std::int64_t operator()(const Position<Real>& p) const {
    constexpr int last = Decomposition::bins - 1;
    const Real x = axis == 0 ? p.x : axis == 1 ? p.y : p.z;
    const int bin = static_cast<int>((x - lower) * bins_per_length);
    return std::int64_t{planes.row(axis, p)} * Decomposition::bins + (bin < 0 ? 0 : bin > last ? last : bin);
  }
};

/// The planes in host memory, for code that has all atoms there. The decomposition is copied.
template <class Real>
class HostPlanes {
 public:
  explicit HostPlanes(const Decomposition& decomposition) : ranks_(decomposition.ranks()) {
    for (int axis = 0; axis < 3; ++axis)
      rows_[axis].assign(decomposition.planes(axis).begin(), decomposition.planes(axis).end());
  }
  [[nodiscard]] PlaneTable<Real> table() const {
    return {{rows_[0].data(), rows_[1].data(), rows_[2].data()}, {ranks_[0], ranks_[1], ranks_[2]}};
  }

 private:
  std::array<int, 3> ranks_;
  std::array<std::vector<Real>, 3> rows_;
};

/// A position of a state as the ranks will hold it.
template <class Real>
[[nodiscard]] Position<Real> held_position(const Vec3<double>& x) {
  return {static_cast<Real>(x.x), static_cast<Real>(x.y), static_cast<Real>(x.z), 0};
}

/// What Decomposition::balance() asks for, of a state that holds the atoms of all ranks.
template <class Real>
[[nodiscard]] std::vector<std::int64_t> count_atoms(const State& state, const Decomposition& decomposition,
                                                    int axis) {
  const HostPlanes<Real> planes(decomposition);
  const auto bin_of = PlaneBins<Real>::with(planes.table(), decomposition.domain(), axis);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(decomposition.rows(axis)) * Decomposition::bins);
  for (const Vec3<double>& x : state.positions) ++counts[bin_of(held_position<Real>(x))];
  return counts;
}

/// The atoms of one rank, in the order of `all`.
template <class Real>
[[nodiscard]] State atoms_of_rank(const State& all, const Decomposition& decomposition, int rank) {
  const HostPlanes<Real> planes(decomposition);
  const PlaneTable<Real> table = planes.table();
  State own;
  own.domain = all.domain;
  own.step = all.step;
  own.nose_hoover = all.nose_hoover;
  for (std::size_t i = 0; i < all.ids.size(); ++i) {
    if (table.owner(held_position<Real>(all.positions[i])) != rank) continue;
    own.ids.push_back(all.ids[i]);
    own.positions.push_back(all.positions[i]);
    own.velocities.push_back(all.velocities[i]);
    own.images.push_back(all.images[i]);
  }
  return own;
}

}  // namespace selvage::md
