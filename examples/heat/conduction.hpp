#pragma once

#include <selvage/comm/context.hpp>

#include <Kokkos_Core.hpp>

#include <array>

namespace heat {

using Space = Kokkos::DefaultExecutionSpace;
using Field = Kokkos::View<double***, Space>;

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space::memory_space>::accessible;
constexpr double wall = 1.0;  // what lies around the box
constexpr double rate = 0.1;  // of the difference to each of six neighbours, per step

/// The heat of a cell after a step. Both programs add in this order, so their bits are equal.
KOKKOS_INLINE_FUNCTION double conducted(double own, double west, double east, double south, double north,
                                        double below, double above) {
  return own + rate * (west + east + south + north + below + above - 6 * own);
}

/// Something to begin with, the same however ranks share the cells. \param cell  in the whole box
KOKKOS_INLINE_FUNCTION double initial_heat(const std::array<int, 3>& cell) {
  return (cell[0] * 31 + cell[1] * 17 + cell[2] * 7) % 100 / 100.0;
}

inline Kokkos::MDRangePolicy<Space, Kokkos::Rank<3>> cells(const Space& space,
                                                           const std::array<int, 3>& begin,
                                                           const std::array<int, 3>& end) {
  return {space, {begin[0], begin[1], begin[2]}, {end[0], end[1], end[2]}};
}

struct Conduct {
  Field u, v;
  KOKKOS_FUNCTION void operator()(int i, int j, int k) const {
    v(i, j, k) = conducted(u(i, j, k), u(i - 1, j, k), u(i + 1, j, k), u(i, j - 1, k), u(i, j + 1, k),
                           u(i, j, k - 1), u(i, j, k + 1));
  }
};
/// A row, in a loop that compilers vectorize; of hosts' arrays, whose rows are contiguous.
struct ConductRow {
  Conduct cell;
  int begin, end;
  KOKKOS_FUNCTION void operator()(int i, int j) const {
    const double *own = &cell.u(i, j, 0), *west = &cell.u(i - 1, j, 0), *east = &cell.u(i + 1, j, 0);
    const double *south = &cell.u(i, j - 1, 0), *north = &cell.u(i, j + 1, 0);
    double* KOKKOS_RESTRICT next = &cell.v(i, j, 0);
    for (int k = begin; k < end; ++k)
      next[k] = conducted(own[k], west[k], east[k], south[k], north[k], own[k - 1], own[k + 1]);
  }
};

/// A step of the cells from `begin` to `end`. The kernel of both programs, so that they differ in communication alone. A thread takes a
/// row on a host, and a cell on a GPU.
inline void conduct(const Space& space, const std::array<int, 3>& begin, const std::array<int, 3>& end,
                    const Field& u, const Field& v) {
  using Rows = Kokkos::MDRangePolicy<Space, Kokkos::Rank<2>>;
  if (on_host) {
    Kokkos::parallel_for("heat::conduct", Rows(space, {begin[0], begin[1]}, {end[0], end[1]}),
                         ConductRow{{u, v}, begin[2], end[2]});
  } else {
    Kokkos::parallel_for("heat::conduct", cells(space, begin, end), Conduct{u, v});
  }
}

/// Whether an exchange takes long enough to compute inner cells meanwhile. Ranks of one host store into each other's memory, which
/// takes less time than kernels for the edges do: there one kernel for all cells is faster.
inline bool overlap_pays(const selvage::Context& context) {
  return context.machine().host_count() > 1;
}

template <class Plane>
Kokkos::MDRangePolicy<Space, Kokkos::Rank<2>> all_of(const Space& space, const Plane& plane) {
  return {space, {0, 0}, {plane.extent_int(0), plane.extent_int(1)}};
}

}  // namespace heat
