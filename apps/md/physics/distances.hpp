#pragma once

#include "md/physics/atoms.hpp"
#include "md/physics/neighbour_list.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace selvage::md {

namespace detail {

template <class Real>
[[nodiscard]] KOKKOS_FUNCTION double squared_distance(const Position<Real>& a, const Position<Real>& b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double dz = b.z - a.z;
  return dx * dx + dy * dy + dz * dz;
}

}  // namespace detail

/// The largest squared distance, in sigma squared, between the positions of the first `count` atoms in two arrays of the
/// space's memory. Waits.
template <class Real, class Space, class View>
double largest_squared_distance(const Space& space, int count, const View& from, const View& to) {
  double largest = 0;
  Kokkos::parallel_reduce(
      "md::largest_displacement", Kokkos::RangePolicy<Space>(space, 0, count),
      KOKKOS_LAMBDA(int i, double& most) {
        const double squared = detail::squared_distance<Real>(from(i), to(i));
        if (squared > most) most = squared;
      },
      Kokkos::Max<double>(largest));
  return largest;
}

/// Whether one of the first `count` atoms is further than `limit` (sigma) from where it was: `found`, in the space's memory,
/// is 1 then, and another number if none is. Enqueues.
template <class Real, class Space, class View, class Found>
void find_strays(const Space& space, int count, const View& from, const View& to, double limit,
                 const Found& found) {
  const double squared_limit = limit * limit;
  Kokkos::parallel_reduce(
      "md::find_strays", Kokkos::RangePolicy<Space>(space, 0, count),
      KOKKOS_LAMBDA(int i, std::int64_t& any) {
        // Written so that NaN counts too.
        if (!(detail::squared_distance<Real>(from(i), to(i)) <= squared_limit)) any = 1;
      },
      Kokkos::Max<std::int64_t, typename Space::memory_space>(found));
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
