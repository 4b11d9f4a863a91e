#pragma once

#include "md/atoms.hpp"
#include "md/neighbour_list.hpp"

#include <Kokkos_Core.hpp>

namespace selvage::md {

/// The largest squared distance, in sigma squared, between the positions of the first `count` atoms in two arrays of the
/// space's memory. Waits.
template <class Real, class Space, class View>
double largest_squared_distance(const Space& space, int count, const View& from, const View& to) {
  double largest = 0;
  Kokkos::parallel_reduce(
      "md::largest_displacement", Kokkos::RangePolicy<Space>(space, 0, count),
      KOKKOS_LAMBDA(int i, double& most) {
        const Position<Real> a = from(i);
        const Position<Real> b = to(i);
        const double dx = b.x - a.x;
        const double dy = b.y - a.y;
        const double dz = b.z - a.z;
        const double squared = dx * dx + dy * dy + dz * dz;
        if (squared > most) most = squared;
      },
      Kokkos::Max<double>(largest));
  return largest;
}

struct ClosePair {
  double squared;  ///< distance, in sigma squared
  int atom;        ///< one of the two
};

/// The closest listed pair. Waits.
template <class Real, class Space>
ClosePair closest_pair(const Space& space, const Atoms<Real, Space>& atoms,
                       const NeighbourTable<Space>& table) {
  using Reducer = Kokkos::MinLoc<double, int>;
  typename Reducer::value_type closest;
  const auto positions = atoms.positions;
  Kokkos::parallel_reduce(
      "md::closest_pair", Kokkos::RangePolicy<Space>(space, 0, atoms.owned),
      KOKKOS_LAMBDA(int i, typename Kokkos::MinLoc<double, int>::value_type& least) {
        const Position<Real> x = positions(i);
        for (int k = 0; k < table.counts(i); ++k) {
          const Position<Real> y = positions(table.neighbours(i, k));
          const double dx = x.x - y.x;
          const double dy = x.y - y.y;
          const double dz = x.z - y.z;
          const double squared = dx * dx + dy * dy + dz * dz;
          if (squared < least.val) least = {squared, i};
        }
      },
      Reducer(closest));
  return {closest.val, closest.loc};
}

}  // namespace selvage::md
