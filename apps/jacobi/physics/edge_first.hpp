#pragma once

#include "jacobi/physics/sweep.hpp"

#include <selvage/comm/box.hpp>
#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#ifdef KOKKOS_ENABLE_CUDA
#include "jacobi/cuda/edge_first_blocks.hpp"
#endif

namespace selvage::jacobi {

/// A box cut into tiles: a shell along the sides that touch neighbours, whose tiles come first, so that a kernel's
/// first teams are the ones whose cells others wait for, and the interior.
template <int D, class Space>
class EdgeFirstTiles {
 public:
  using MemorySpace = typename Space::memory_space;

  /// \param own    local cells, ghosts counted
  /// \param inner  those of them that read no ghosts and that no neighbour keeps
  EdgeFirstTiles(const Box<D>& own, const Box<D>& inner) : own_(cell_range(own)) {
    Box<D> interior = own;
    for (int axis = 0; axis < D; ++axis) {
      if (inner.begin[axis] > own.begin[axis]) interior.begin[axis] += shell_cells(axis);
      if (inner.end[axis] < own.end[axis]) interior.end[axis] -= shell_cells(axis);
    }
    if (is_empty(interior)) interior.end = interior.begin;
    interior_ = cell_range(interior);
    std::vector<CellRange<D>> edges;
    for (const Box<D>& slab : without(own, interior)) {
      const CellRange<D> range = cell_range(slab);
      const auto counts = tile_counts(range);
      for (std::int64_t tile = 0; tile < product(counts); ++tile)
        edges.push_back(tile_of(range, counts, tile));
    }
    edges_ = Edges("jacobi::edges", edges.size());
    Kokkos::deep_copy(edges_,
                      Kokkos::View<const CellRange<D>*, Kokkos::HostSpace>(edges.data(), edges.size()));
    interior_counts_ = tile_counts(interior_);
  }

  [[nodiscard]] const CellRange<D>& own() const { return own_; }
  [[nodiscard]] const CellRange<D>& interior() const { return interior_; }
  [[nodiscard]] const CellRange<D>* edges() const { return edges_.data(); }

  [[nodiscard]] int count() const { return edge_count() + static_cast<int>(product(interior_counts_)); }
  /// The first so many touch neighbours.
  [[nodiscard]] KOKKOS_FUNCTION int edge_count() const { return static_cast<int>(edges_.extent(0)); }
  [[nodiscard]] KOKKOS_FUNCTION CellRange<D> at(int place) const {
    if (place < edge_count()) return edges_(place);
    return tile_of(interior_, interior_counts_, place - edge_count());
  }

 private:
  using Edges = Kokkos::View<CellRange<D>*, MemorySpace>;
  using Counts = Kokkos::Array<std::int64_t, D>;

  /// As thin as keeps a kernel's loads whole.
  static std::int64_t shell_cells(int axis) { return axis == D - 1 ? 32 : axis == 0 && D == 3 ? 2 : 4; }
  /// Enough work for a team, in rows that a warp reads at once.
  KOKKOS_FUNCTION static constexpr std::int64_t extent(int axis) {
    return axis == D - 1 ? 256 : D == 2 ? 16 : 4;
  }

  KOKKOS_FUNCTION static std::int64_t product(const Counts& counts) {
    std::int64_t result = 1;
    for (int axis = 0; axis < D; ++axis) result *= counts[axis];
    return result;
  }
  static Counts tile_counts(const CellRange<D>& range) {
    Counts counts{};
    for (int axis = 0; axis < D; ++axis)
      counts[axis] = (range.extent[axis] + extent(axis) - 1) / extent(axis);
    return counts;
  }
  KOKKOS_FUNCTION static CellRange<D> tile_of(const CellRange<D>& range, const Counts& counts,
                                              std::int64_t tile) {
    CellRange<D> result{};
    for (int axis = D - 1; axis >= 0; --axis) {
      const std::int64_t begin = tile % counts[axis] * extent(axis);
      tile /= counts[axis];
      const std::int64_t left = range.extent[axis] - begin;
      result.begin[axis] = range.begin[axis] + begin;
      result.extent[axis] = left < extent(axis) ? left : extent(axis);
    }
    return result;
  }

  CellRange<D> own_;
  CellRange<D> interior_;
  Counts interior_counts_{};
  Edges edges_;
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

  KOKKOS_FUNCTION static HaloPort::Box port_box(const CellRange<D>& tile) {
    HaloPort::Box box;
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

#ifdef KOKKOS_ENABLE_CUDA
/// \return false, and nothing is done, where the form of GPUs can't
template <class Stencil, bool has_source, class Real>
[[nodiscard]] bool sweep_edge_first_blocks(const Kokkos::Cuda& space, const HaloPort& port, int view,
                                           const EdgeFirstTiles<Stencil::dimensions, Kokkos::Cuda>& tiles,
                                           const SweepFields<Real, Stencil::dimensions>& fields) {
  const auto launch = [&]<int along_x>(std::integral_constant<int, along_x>) {
    return cuda::launch_edge_first(space, "jacobi::edge_first",
                                   cuda::EdgeFirstBlocks<Real, Stencil, has_source, along_x>{
                                       .port = port,
                                       .view = view,
                                       .own = tiles.own(),
                                       .tiles = tiles.edges(),
                                       .tile_count = static_cast<unsigned>(tiles.edge_count()),
                                       .interior = {fields, tiles.interior()}});
  };
  constexpr int widest = BlockShape<Real, Stencil::dimensions>::widest;
  if (packs_fit(fields, widest)) return launch(std::integral_constant<int, widest>());
  return launch(std::integral_constant<int, 1>());
}
#endif

template <class Stencil, bool has_source, class Space, class Real>
void sweep_edge_first(const Space& space, const HaloPort& port, int view,
                      const EdgeFirstTiles<Stencil::dimensions, Space>& tiles,
                      const SweepFields<Real, Stencil::dimensions>& fields, double* squared_change_sum) {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<Space, Kokkos::Cuda>) {
    if (squared_change_sum == nullptr &&
        sweep_edge_first_blocks<Stencil, has_source>(space, port, view, tiles, fields))
      return;
  }
#endif
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
