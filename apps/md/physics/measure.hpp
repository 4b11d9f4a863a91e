#pragma once

// Members of Engine that count, measure, check and decide when lists are due. engine.hpp includes this.

#include "md/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace selvage::md {

template <class Numbers, class Space, class Ghosts>
bool Engine<Numbers, Space, Ghosts>::sends_from_kernels() const {
  if constexpr (detail::has_sender<Ghosts>) {
    return list_.kind() == ListKind::full && ghosts_.sends_from_kernels();
  } else {
    return false;
  }
}

template <class Numbers, class Space, class Ghosts>
bool Engine<Numbers, Space, Ghosts>::may_rebuild_next() const {
  return (step_ + 1 - listed_at_) % options_.rebuild_every == 0;
}

template <class Numbers, class Space, class Ghosts>
bool Engine<Numbers, Space, Ghosts>::have_moved_far() {
  if (!options_.checks_displacement) return true;
  // Two atoms that come towards each other share the skin. Written so that NaN counts too.
  const auto timer = breakdown_.time(space_, list_phase_);
  const double own = largest_displacement();
  const auto all = ghosts_.gather_over_ranks("how far atoms have moved", std::span(&own, 1));
  return !std::ranges::all_of(all, [&](double moved) { return 2 * moved <= options_.skin; });
}

template <class Numbers, class Space, class Ghosts>
void Engine<Numbers, Space, Ghosts>::thermostat_half_step() {
  const double own = sum_motion(space_, atoms_).squared_speed;
  const auto all = ghosts_.gather_over_ranks("the thermostat's sum of velocities", std::span(&own, 1));
  const double squared_speed = std::accumulate(all.begin(), all.end(), 0.0);
  scale_velocities(space_, atoms_, nose_hoover_->half_step(squared_speed));
}

template <class Numbers, class Space, class Ghosts>
double Engine<Numbers, Space, Ghosts>::largest_displacement() const {
  return std::sqrt(largest_squared_distance<Real>(space_, atoms_.owned, listed_positions_, atoms_.positions));
}

template <class Numbers, class Space, class Ghosts>
bool Engine<Numbers, Space, Ghosts>::remembers_positions() const {
  return options_.checks_displacement || (options_.counts_dangerous && options_.rebuild_every > 1);
}

template <class Numbers, class Space, class Ghosts>
bool Engine<Numbers, Space, Ghosts>::may_be_dangerous() const {
  const std::int64_t age = step_ - listed_at_;
  return options_.counts_dangerous && age > 1 && age <= options_.rebuild_every;
}

template <class Numbers, class Space, class Ghosts>
bool Engine<Numbers, Space, Ghosts>::look_for_strays() const {
  const bool looks = may_be_dangerous();
  // Read back with the runaways, so that the host waits once for both.
  if (looks) {
    find_strays<Real>(space_, atoms_.owned, listed_positions_, atoms_.positions, options_.skin / 2,
                      motion_.watch().strays());
  }
  return check_runaways().found_strays && looks;
}

template <class Numbers, class Space, class Ghosts>
void Engine<Numbers, Space, Ghosts>::count_atoms_and_danger(bool has_strays) {
  const std::array<double, 2> own = {static_cast<double>(atoms_.owned), has_strays ? 1.0 : 0.0};
  const auto all = ghosts_.gather_over_ranks("counting atoms", own);
  bool is_dangerous = false;
  for (std::size_t rank = 0; rank < atoms_by_rank_.size(); ++rank) {
    atoms_by_rank_[rank] = all[2 * rank];
    is_dangerous = is_dangerous || all[2 * rank + 1] != 0;
  }
  if (is_dangerous) ++dangerous_rebuilds_;
}

template <class Numbers, class Space, class Ghosts>
void Engine<Numbers, Space, Ghosts>::look_at_load(bool balances) {
  check_none_lost(step_, all_atoms_, atoms_by_rank_);
  if (!options_.balance) return;
  const bool is_due = ++unbalanced_rebuilds_ >= options_.balance->every;
  if (is_due || balances) unbalanced_rebuilds_ = 0;
  if (!balances && !(is_due && imbalance(atoms_by_rank_) > options_.balance->threshold)) return;
  if (!ghosts_.move_planes(space_, atoms_)) return;
  bins_ = CellBins<Real, Space>(ghosts_.box(), options_.list_cutoff(), all_atoms_);
  ++balanced_;
  atoms_by_rank_ = count_atoms();
}

template <class Numbers, class Space, class Ghosts>
std::vector<double> Engine<Numbers, Space, Ghosts>::count_atoms() const {
  const auto own = static_cast<double>(atoms_.owned);
  return ghosts_.gather_over_ranks("counting atoms", std::span(&own, 1));
}

template <class Numbers, class Space, class Ghosts>
ThermoRow Engine<Numbers, Space, Ghosts>::measure() {
  finish_step();
  check_runaways();
  const MotionSums motion = sum_motion(space_, atoms_);
  const std::array<double, 6> own = {pairs_.energy,      pairs_.virial,      motion.squared_speed,
                                     motion.momentum[0], motion.momentum[1], motion.momentum[2]};
  const auto all = ghosts_.gather_over_ranks(fmt::format("the sums at step {}", step_), own);
  std::array<double, 6> sums{};
  for (std::size_t i = 0; i < all.size(); ++i) sums[i % sums.size()] += all[i];
  return thermo_row(step_, all_atoms_, domain_, {sums[0], sums[1]}, {sums[2], {sums[3], sums[4], sums[5]}});
}

template <class Numbers, class Space, class Ghosts>
State Engine<Numbers, Space, Ghosts>::state() {
  finish_step();
  State state = download(space_, atoms_);
  state.domain = domain_;
  state.step = step_;
  if (nose_hoover_) state.nose_hoover = nose_hoover_->state();
  return state;
}

template <class Numbers, class Space, class Ghosts>
std::vector<Vec3<double>> Engine<Numbers, Space, Ghosts>::forces() const {
  space_.fence("md: before reading the forces");
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, atoms_.forces);
  std::vector<Vec3<double>> forces;
  for (int i = 0; i < atoms_.owned; ++i) forces.push_back({host(i).x, host(i).y, host(i).z});
  return forces;
}

template <class Numbers, class Space, class Ghosts>
Sighting Engine<Numbers, Space, Ghosts>::check_runaways() const {
  const Sighting sighting = motion_.watch().look(space_);
  const auto& runaway = sighting.runaway;
  if (!runaway) return sighting;
  throw Error(
      ErrorKind::numeric,
      fmt::format(
          "atom {} moved more than a cutoff ({} sigma) in step {}: the time step of {} tau is too long "
          "for the forces here; files written before are kept",
          runaway->id, options_.cutoff, runaway->step, options_.dt));
}

template <class Numbers, class Space, class Ghosts>
void Engine<Numbers, Space, Ghosts>::check_overlap() const {
  const auto pair = closest_pair(space_, atoms_, list_.table());
  if (pair.squared >= closest_allowed * closest_allowed) return;
  const auto ids = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, atoms_.ids);
  throw Error(ErrorKind::input,
              fmt::format("atom {} has a neighbour only {:.3g} sigma away at step {}: atoms overlap",
                          ids(pair.atom), std::sqrt(pair.squared), step_));
}

}  // namespace selvage::md
