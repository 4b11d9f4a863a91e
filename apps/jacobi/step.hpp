#pragma once

// The program in one page: how the exchange is planned, and what a step sends and computes, in order. The class is in solver.hpp,
// which includes this; physics/ has the stencils, physics/cells.hpp the values at the start and those that files hold.

#include "jacobi/solver.hpp"

#include <utility>

namespace selvage::jacobi {

template <class Real, class Stencil, class Space>
Solver<Real, Stencil, Space>::Solver(const Space& space, const Grid<D>& grid, const Problem<D>& problem,
                                     const SolverOptions& options, app::Breakdown& breakdown)
    : space_(space),
      grid_(grid),
      problem_(problem),
      options_(options),
      own_(grid.local_box(options.steps_per_exchange)),
      fields_{
          grid.template allocate<Real, Kokkos::LayoutRight, MemorySpace>("u", options.steps_per_exchange),
          grid.template allocate<Real, Kokkos::LayoutRight, MemorySpace>("v", options.steps_per_exchange)},
      breakdown_(breakdown),
      interior_(breakdown.phase("interior")),
      edge_(breakdown.phase("edge")),
      exchange_(breakdown.phase("halo")) {
  set_initial_values();
  if (problem_.has_source()) set_source();
  // Last: from here on neighbours may write ghosts.
  halo_.emplace(space, grid, detail::halo_options<D>(options, Stencil::reads_corners), fields_[0],
                fields_[1]);
  if (options_.persistent) {
    set_up_persistent();
  } else if (options_.overlap == Overlap::kernel) {
    set_up_edge_first();
  }
}

template <class Real, class Stencil, class Space>
void Solver<Real, Stencil, Space>::advance(std::int64_t sweeps) {
  if (persistent_) {
    persistent_->advance(sweeps);
    step_ += sweeps;
    return;
  }
  for (std::int64_t sweep = 0; sweep < sweeps; ++sweep) {
    sweep_into_other(nullptr);
    accept();
  }
}

template <class Real, class Stencil, class Space>
void Solver<Real, Stencil, Space>::sweep_into_other(double* squared_change_sum) {
  if (edge_first_) return sweep_edge_first(squared_change_sum);
  // Counted from step 0 and not from a restart, so that sums over boxes are the same with and without one.
  const auto sweeps_since_exchange = static_cast<int>(step_ % options_.steps_per_exchange);
  const bool exchange_is_due = sweeps_since_exchange == 0;
  if (exchange_is_due && options_.overlap == Overlap::host) {
    ghosts_are_stale_ = false;
    sweep_around_exchange(squared_change_sum);
    return;
  }
  if (exchange_is_due || ghosts_are_stale_) {
    const auto timer = breakdown_.time(space_, exchange_);
    halo_->exchange(space_, field());
    ghosts_are_stale_ = false;
  }
  const Box<D> all = grid_.grown(own_, options_.steps_per_exchange - 1 - sweeps_since_exchange);
  if (squared_change_sum == nullptr) {
    sweep_boxes(interior_, "jacobi::interior", {all}, nullptr);
    return;
  }
  sweep_boxes(interior_, "jacobi::interior", {own_}, squared_change_sum);
  sweep_boxes(edge_, "jacobi::edge", without(all, own_), nullptr);
}

template <class Real, class Stencil, class Space>
void Solver<Real, Stencil, Space>::sweep_around_exchange(double* squared_change_sum) {
  const Box<D> inner = grid_.shrunk(own_, 1);
  const Box<D> all = grid_.grown(own_, options_.steps_per_exchange - 1);
  auto pending = [&] {
    const auto timer = breakdown_.time(space_, exchange_);
    return halo_->start(space_, field());
  }();
  sweep_boxes(interior_, "jacobi::interior", {inner}, squared_change_sum);
  {
    const auto timer = breakdown_.time(space_, exchange_);
    halo_->finish(space_, std::move(pending));
  }
  sweep_boxes(edge_, "jacobi::edge", without(own_, inner), squared_change_sum);
  sweep_boxes(edge_, "jacobi::edge", without(all, own_), nullptr);
}

template <class Real, class Stencil, class Space>
void Solver<Real, Stencil, Space>::sweep_boxes(app::Breakdown::Phase phase, const std::string& label,
                                               const std::vector<Box<D>>& boxes, double* squared_change_sum) {
  const auto timer = breakdown_.time(space_, phase);
  for (const Box<D>& box : boxes) {
    if (!is_empty(box)) sweep<Stencil>(space_, label, sweep_fields(), box, squared_change_sum);
  }
}

template <class Real, class Stencil, class Space>
void Solver<Real, Stencil, Space>::set_up_edge_first() {
  if (options_.steps_per_exchange != 1) {
    throw Error(ErrorKind::unsupported,
                "overlap in the kernel sends in every sweep: steps per exchange is 1 there");
  }
  HaloOptions<D> halo = detail::halo_options<D>(options_, Stencil::reads_corners);
  // Ghosts of a field are read in one sweep, and sweeps take strict turns.
  halo.ghost_reuse = GhostReuse::alternating;
  HaloExchange exchange(space_, grid_, halo, fields_[0], fields_[1]);
  const HaloPort port = exchange.device(space_, fields_[0], fields_[1]);
  edge_first_.emplace(std::move(exchange), port, EdgeFirstTiles<D, Space>(own_, grid_.shrunk(own_, 1)));
}

/// The ghosts of field() are there or on their way: the neighbours' sweep before sent them.
template <class Real, class Stencil, class Space>
void Solver<Real, Stencil, Space>::sweep_edge_first(double* squared_change_sum) {
  if (ghosts_are_stale_) {
    const auto timer = breakdown_.time(space_, exchange_);
    halo_->exchange(space_, field());
    ghosts_are_stale_ = false;
  }
  const auto timer = breakdown_.time(space_, interior_);
  jacobi::sweep_edge_first<Stencil>(space_, edge_first_->port, 1 - current_, edge_first_->tiles,
                                    sweep_fields(), squared_change_sum);
  if (squared_change_sum != nullptr) edge_first_->halo.check();
}

}  // namespace selvage::jacobi
