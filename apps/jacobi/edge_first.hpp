#pragma once

#include "jacobi/sweep.hpp"

#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace selvage::jacobi {

/// A box cut into tiles, those that touch neighbours first, so that a kernel's first teams are the ones whose
/// cells others wait for.
template <int D, class Space>
class EdgeFirstTiles {
 public:
  using MemorySpace = typename Space::memory_space;

  /// \param own    local cells, ghosts counted
  /// \param inner  those of them that read no ghosts and that no neighbour keeps
  EdgeFirstTiles(const Box<D>& own, const Box<D>& inner) : range_(cell_range(own)) {
    std::int64_t count = 1;
    for (int axis = 0; axis < D; ++axis) {
      counts_[axis] = (range_.extent[axis] + extent(axis) - 1) / extent(axis);
      count *= counts_[axis];
    }
    std::vector<std::int32_t> edges;
    std::vector<std::int32_t> rest;
    for (std::int64_t tile = 0; tile < count; ++tile)
      (is_inside(box(tile), inner) ? rest : edges).push_back(static_cast<std::int32_t>(tile));
    edge_count_ = static_cast<int>(edges.size());
    edges.insert(edges.end(), rest.begin(), rest.end());
    order_ = Order("jacobi::tiles", edges.size());
    Kokkos::deep_copy(order_,
                      Kokkos::View<const std::int32_t*, Kokkos::HostSpace>(edges.data(), edges.size()));
  }

  [[nodiscard]] int count() const { return static_cast<int>(order_.extent(0)); }
  /// The first so many touch neighbours.
  [[nodiscard]] KOKKOS_FUNCTION int edge_count() const { return edge_count_; }
  [[nodiscard]] KOKKOS_FUNCTION CellRange<D> at(int place) const { return box(order_(place)); }

 private:
  using Order = Kokkos::View<std::int32_t*, MemorySpace>;

  /// Enough work for a team, in rows that a warp reads at once.
  KOKKOS_FUNCTION static constexpr std::int64_t extent(int axis) {
    return axis == D - 1 ? 256 : D == 2 ? 16 : 4;
  }

  [[nodiscard]] KOKKOS_FUNCTION CellRange<D> box(std::int64_t tile) const {
    CellRange<D> result{};
    for (int axis = D - 1; axis >= 0; --axis) {
      const std::int64_t begin = tile % counts_[axis] * extent(axis);
      tile /= counts_[axis];
      const std::int64_t left = range_.extent[axis] - begin;
      result.begin[axis] = range_.begin[axis] + begin;
      result.extent[axis] = left < extent(axis) ? left : extent(axis);
    }
    return result;
  }

  static bool is_inside(const CellRange<D>& tile, const Box<D>& inner) {
    for (int axis = 0; axis < D; ++axis) {
      if (tile.begin[axis] < inner.begin[axis] || tile.begin[axis] + tile.extent[axis] > inner.end[axis])
        return false;
    }
    return true;
  }

  CellRange<D> range_;
  Kokkos::Array<std::int64_t, D> counts_{};
  int edge_count_ = 0;
  Order order_;
};

/// One sweep in one kernel that sends its own boundary (HaloPort). The teams of edge tiles wait for the ghosts
/// of the sweep before, and put what they have made; the others need nobody.
template <class Real, class Stencil, bool has_source, class Space>
struct EdgeFirstSweep {
  static constexpr int D = Stencil::dimensions;
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;

  HaloPort port;
  int view;  ///< the port's number of the field that is written
  EdgeFirstTiles<D, Space> tiles;
  SweepFields<Real, D> fields;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    double unused = 0;
    sweep_tile<false>(team, unused);
  }
  KOKKOS_FUNCTION void operator()(const Team& team, double& squared_change_sum) const {
    double sum = 0;
    sweep_tile<true>(team, sum);
    Kokkos::single(Kokkos::PerTeam(team), [&] { squared_change_sum += sum; });
  }

 private:
  template <bool sums>
  KOKKOS_FUNCTION void sweep_tile(const Team& team, double& sum) const {
    const CellRange<D> tile = tiles.at(team.league_rank());
    if (team.league_rank() >= tiles.edge_count()) return sweep_cells<sums>(team, tile, sum);
    const auto turn = port.open(team);
    if (turn.wait_all(team, 0)) {
      sweep_cells<sums>(team, tile, sum);
      team.team_barrier();
      turn.put(team, view, port_box(tile));
    }
    Kokkos::single(Kokkos::PerTeam(team), [&] { turn.close_one_of(tiles.edge_count(), 1); });
  }

  KOKKOS_FUNCTION static PortBox port_box(const CellRange<D>& tile) {
    PortBox box;
    for (int axis = 0; axis < D; ++axis) {
      box.begin[axis] = tile.begin[axis];
      box.end[axis] = tile.begin[axis] + tile.extent[axis];
    }
    return box;
  }

  template <bool sums>
  KOKKOS_FUNCTION void sweep_cells(const Team& team, const CellRange<D>& tile, double& sum) const {
    if constexpr (sums) {
      Kokkos::parallel_reduce(
          Kokkos::TeamThreadRange(team, tile.rows()),
          [&](std::int64_t row, double& rows_sum) {
            double row_sum = 0;
            Kokkos::parallel_reduce(
                Kokkos::ThreadVectorRange(team, tile.extent[D - 1]),
                [&](std::int64_t i, double& cells_sum) { cells_sum += sweep_cell(tile, row, i); }, row_sum);
            Kokkos::single(Kokkos::PerThread(team), [&] { rows_sum += row_sum; });
          },
          sum);
    } else {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, tile.rows()), [&](std::int64_t row) {
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, tile.extent[D - 1]),
                             [&](std::int64_t i) { sweep_cell(tile, row, i); });
      });
    }
  }

  /// \return the squared change
  KOKKOS_FUNCTION double sweep_cell(const CellRange<D>& tile, std::int64_t row, std::int64_t i) const {
    detail::Row<Real> line{};
    if constexpr (D == 2) {
      line = detail::locate_row<has_source>(fields, tile.begin[0] + row);
    } else {
      line = detail::locate_row<has_source>(fields, tile.begin[0] + row / tile.extent[1],
                                            tile.begin[1] + row % tile.extent[1]);
    }
    const std::int64_t x = tile.begin[D - 1] + i;
    const std::ptrdiff_t cell = line.offset + static_cast<std::ptrdiff_t>(x);
    const Real before = fields.from[cell];
    const Real after = detail::relax<Stencil, has_source>(Stencil::sum(fields.from + cell, fields.stride),
                                                          line.source_factor, fields.source.axis[D - 1], x);
    fields.to[cell] = after;
    const double change = static_cast<double>(after) - static_cast<double>(before);
    return change * change;
  }
};

namespace detail {

template <class Stencil, bool has_source, class Space, class Real>
void sweep_edge_first(const Space& space, const HaloPort& port, int view,
                      const EdgeFirstTiles<Stencil::dimensions, Space>& tiles,
                      const SweepFields<Real, Stencil::dimensions>& fields, double* squared_change_sum) {
  using Policy = Kokkos::TeamPolicy<Space>;
  constexpr int warps = runs_on_host<Space> ? 1 : 8;
  constexpr int lanes = runs_on_host<Space> ? 1 : 32;
  const EdgeFirstSweep<Real, Stencil, has_source, Space> kernel{port, view, tiles, fields};
  run<Space>("jacobi::edge_first", Policy(space, tiles.count(), warps, lanes), kernel, squared_change_sum);
}

}  // namespace detail

/// Enqueues one Jacobi sweep of all tiles that sends its own boundary.
/// \param view                the port's number of `fields.to`
/// \param squared_change_sum  if given, the sum of (new - old)^2 is added to it, which waits for the sweep;
///                            host memory
template <class Stencil, class Space, class Real>
void sweep_edge_first(const Space& space, const HaloPort& port, int view,
                      const EdgeFirstTiles<Stencil::dimensions, Space>& tiles,
                      const SweepFields<Real, Stencil::dimensions>& fields, double* squared_change_sum) {
  if (fields.source.axis[0] != nullptr) {
    detail::sweep_edge_first<Stencil, true>(space, port, view, tiles, fields, squared_change_sum);
  } else {
    detail::sweep_edge_first<Stencil, false>(space, port, view, tiles, fields, squared_change_sum);
  }
}

}  // namespace selvage::jacobi
