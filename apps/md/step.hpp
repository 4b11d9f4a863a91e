#pragma once

// The program in one page: what a step moves, sends and computes, in order. The class is in engine.hpp, which includes this. `ghosts_`
// is where Selvage is called, in ghosts/rank_ghosts.hpp: migrate() brings atoms to their ranks, build() and update() fetch copies of the
// neighbours' atoms, and add_forces() brings back what was computed for them.

#include "md/engine.hpp"

#include <numeric>
#include <utility>

namespace selvage::md {

template <class Numbers, class Space, class Ghosts>
Engine<Numbers, Space, Ghosts>::Engine(const Space& space, const State& state, const EngineOptions& options,
                                       Ghosts ghosts, app::Breakdown& breakdown)
    : space_(space),
      domain_(state.domain),
      options_(options),
      atoms_(upload<Real>(space, state)),
      ghosts_(std::move(ghosts)),
      atoms_by_rank_(count_atoms()),
      all_atoms_(
          static_cast<std::int64_t>(std::accumulate(atoms_by_rank_.begin(), atoms_by_rank_.end(), 0.0))),
      bins_(ghosts_.box(), options.list_cutoff(), all_atoms_),
      list_(options.list, options.list_cutoff()),
      motion_(space, options.dt, options.cutoff, options.langevin),
      law_(LennardJones<typename Numbers::Computed>::with(options.cutoff, options.shifted)),
      step_(state.step),
      listed_at_(state.step),
      breakdown_(breakdown),
      force_phase_(breakdown.phase("force")),
      ghost_phase_(breakdown.phase("ghosts")),
      list_phase_(breakdown.phase("list")),
      motion_phase_(breakdown.phase("motion")) {
  if (options.nose_hoover)
    nose_hoover_.emplace(*options.nose_hoover, options.dt, all_atoms_, state.nose_hoover);
  rebuild(false);
  rebuilds_ = 0;
  unbalanced_rebuilds_ = 0;
  check_overlap();
  compute(true);
}

template <class Numbers, class Space, class Ghosts>
void Engine<Numbers, Space, Ghosts>::advance(bool measured, bool rebuild_now) {
  const bool may_rebuild = rebuild_now || may_rebuild_next();
  // Sums need ghosts behind the owned positions, and so do lists.
  if (!may_rebuild && !measured && sends_from_kernels()) {
    begin_step_and_send();
    compute_with_port();
    return;
  }
  begin_step();
  if (may_rebuild && (rebuild_now || have_moved_far())) {
    rebuild(rebuild_now);
  } else {
    const auto timer = breakdown_.time(space_, ghost_phase_);
    ghosts_.update(space_, atoms_);
  }
  compute(measured);
}

template <class Numbers, class Space, class Ghosts>
void Engine<Numbers, Space, Ghosts>::begin_step() {
  // A thermostat that needs all velocities stands between a step and the next.
  if (nose_hoover_) finish_step();
  const auto timer = breakdown_.time(space_, motion_phase_);
  if (nose_hoover_) thermostat_half_step();
  if (step_is_open_) {
    motion_.end_and_begin_step(space_, atoms_, step_);
  } else {
    motion_.begin_step(space_, atoms_, step_);
  }
  ++step_;
  step_is_open_ = true;
}

template <class Numbers, class Space, class Ghosts>
void Engine<Numbers, Space, Ghosts>::rebuild(bool balances) {
  const auto timer = breakdown_.time(space_, list_phase_);
  const bool has_strays = look_for_strays();
  ghosts_.migrate(space_, atoms_);
  count_atoms_and_danger(has_strays);
  look_at_load(balances);
  bins_.sort(space_, atoms_.positions, atoms_.owned);
  reorder(space_, atoms_, spare_, bins_);
  ghosts_.build(space_, atoms_);
  bins_.sort(space_, atoms_.positions, atoms_.all());
  bins_.copy_positions(space_, atoms_.positions, atoms_.all());
  list_.build(space_, atoms_, bins_);
  if (remembers_positions()) remember_positions(space_, atoms_, listed_positions_);
  listed_at_ = step_;
  ++rebuilds_;
}

template <class Numbers, class Space, class Ghosts>
void Engine<Numbers, Space, Ghosts>::compute(bool measured) {
  {
    const auto timer = breakdown_.time(space_, force_phase_);
    compute_forces<Numbers>(space_, law_, atoms_, list_.kind(), list_.table(), measured ? &pairs_ : nullptr);
  }
  if (list_.kind() == ListKind::full) return;
  const auto timer = breakdown_.time(space_, ghost_phase_);
  ghosts_.add_forces(space_, atoms_);
}

template <class Numbers, class Space, class Ghosts>
void Engine<Numbers, Space, Ghosts>::begin_step_and_send() {
  if constexpr (detail::has_sender<Ghosts>) {
    // As in begin_step().
    if (nose_hoover_) finish_step();
    const auto timer = breakdown_.time(space_, motion_phase_);
    if (nose_hoover_) thermostat_half_step();
    motion_.begin_step_and_send(space_, atoms_, step_, step_is_open_, ghosts_.sender());
    ++step_;
    step_is_open_ = true;
  }
}

template <class Numbers, class Space, class Ghosts>
void Engine<Numbers, Space, Ghosts>::compute_with_port() {
  if constexpr (detail::has_sender<Ghosts>) {
    const auto timer = breakdown_.time(space_, force_phase_);
    compute_forces_with_port<Numbers>(space_, law_, atoms_, list_.table(), ghosts_.port());
  }
}

template <class Numbers, class Space, class Ghosts>
void Engine<Numbers, Space, Ghosts>::finish_step() {
  if (!step_is_open_) return;
  const auto timer = breakdown_.time(space_, motion_phase_);
  motion_.end_step(space_, atoms_, step_);
  if (nose_hoover_) thermostat_half_step();
  step_is_open_ = false;
}

}  // namespace selvage::md
