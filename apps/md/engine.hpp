#pragma once

#include "common/breakdown.hpp"
#include "md/cells.hpp"
#include "md/distances.hpp"
#include "md/engine_options.hpp"
#include "md/ghosts/periodic_images.hpp"
#include "md/lennard_jones.hpp"
#include "md/load.hpp"
#include "md/motion.hpp"
#include "md/neighbour_list.hpp"
#include "md/nose_hoover.hpp"
#include "md/thermo.hpp"

#include <selvage/error.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace selvage::md {

/// Steps the atoms of one rank. Kernels are enqueued on one instance; the host waits only where lists are rebuilt
/// or something is measured.
/// \tparam Numbers  Fp64, Mixed or Fp32
/// \tparam Ghosts   where copies of atoms beyond the box's sides come from (ghosts/)
template <class Numbers, class Space, class Ghosts = PeriodicImages<typename Numbers::Stored, Space>>
class Engine {
 public:
  using Real = typename Numbers::Stored;

  /// Copies the atoms, lists neighbours and computes forces.
  /// Collective where ghosts are.
  /// \param state   checked by check_state(): this rank's atoms, or any, which then go to their ranks
  /// \param ghosts  for the state's box and the list's cutoff
  /// \throws Error{input} that names a pair of atoms that overlap
  Engine(const Space& space, const State& state, const EngineOptions& options, Ghosts ghosts,
         app::Breakdown& breakdown);

  [[nodiscard]] std::int64_t step() const { return step_; }
  [[nodiscard]] std::int64_t rebuilds() const { return rebuilds_; }
  /// Of rebuilds(), those that may have come too late: where they are made, an atom of any rank has moved more than half the
  /// skin since the last one, so that forces in between may lack pairs. The same on all ranks. As LAMMPS counts dangerous builds
  /// (neighbor.cpp, check_distance()): where displacements are checked, only a rebuild in the first step that may have one
  /// counts. Unlike there, one in the step after the last doesn't: no step has used its lists with atoms moved.
  /// 0 unless counts_dangerous.
  [[nodiscard]] std::int64_t dangerous_rebuilds() const { return dangerous_rebuilds_; }
  /// Of this rank.
  [[nodiscard]] std::int64_t atoms() const { return atoms_.owned; }
  [[nodiscard]] int ghosts() const { return atoms_.ghosts; }
  [[nodiscard]] std::string explain() const { return ghosts_.explain(); }
  [[nodiscard]] std::string describe_boxes() const { return ghosts_.describe_boxes(); }
  /// Of each rank since the last rebuild.
  [[nodiscard]] const std::vector<double>& atoms_by_rank() const { return atoms_by_rank_; }
  /// How often planes have moved.
  [[nodiscard]] std::int64_t balanced() const { return balanced_; }

  /// One step. Enqueues, and waits where lists are rebuilt.
  /// \param rebuild  whether to rebuild the lists in this step in any case, and to balance ranks if they ever are: what
  ///                 follows then depends on state() alone
  /// \throws Error{numeric} at a rebuild, naming atom and step, once an atom has moved a cutoff in one step, or
  ///         how many atoms were lost
  void advance(bool measured, bool rebuild);

  /// The state after step(); valid after the constructor and after a step with `measured`. Waits.
  /// \throws Error{numeric} as advance()
  [[nodiscard]] ThermoRow measure();

  /// What a Nose-Hoover thermostat has taken from the atoms of all ranks since the start, in epsilon; with their energy it
  /// adds up to a constant. 0 without one. Of the same step as measure(), after it.
  [[nodiscard]] double thermostat_energy() const { return nose_hoover_ ? nose_hoover_->energy() : 0; }

  /// The atoms in their present order. Waits. A run that starts from it goes on with the same bits if this step
  /// rebuilt the lists.
  [[nodiscard]] State state();

  /// The forces on the owned atoms, in state()'s order. Waits.
  [[nodiscard]] std::vector<Vec3<double>> forces() const;

 private:
  void rebuild(bool balances);
  void count_atoms_and_danger(bool has_strays);
  void look_at_load(bool balances);
  [[nodiscard]] std::vector<double> count_atoms() const;
  void compute(bool measured);
  void begin_step();
  void begin_step_and_send();
  void compute_with_port();
  void finish_step();
  void thermostat_half_step();
  [[nodiscard]] bool may_rebuild_next() const;
  [[nodiscard]] bool sends_from_kernels() const;
  [[nodiscard]] bool have_moved_far();
  [[nodiscard]] double largest_displacement() const;
  [[nodiscard]] bool remembers_positions() const;
  [[nodiscard]] bool may_be_dangerous() const;
  [[nodiscard]] bool look_for_strays() const;
  Sighting check_runaways() const;
  void check_overlap() const;

  Space space_;
  Domain domain_;
  EngineOptions options_;
  Atoms<Real, Space> atoms_;
  Atoms<Real, Space> spare_;  ///< see reorder()
  Ghosts ghosts_;
  std::vector<double> atoms_by_rank_;
  std::int64_t all_atoms_;  ///< at the start
  CellBins<Real, Space> bins_;
  NeighbourList<Real, Space> list_;
  Motion<Real, Space> motion_;
  LennardJones<typename Numbers::Computed> law_;
  typename Atoms<Real, Space>::template Array<Position<Real>>
      listed_positions_;  ///< when the lists were made
  std::optional<NoseHoover> nose_hoover_;
  PairSums pairs_;
  std::int64_t step_;
  std::int64_t listed_at_;
  std::int64_t rebuilds_ = 0;
  std::int64_t dangerous_rebuilds_ = 0;
  int unbalanced_rebuilds_ = 0;  ///< since ranks were last looked at
  std::int64_t balanced_ = 0;
  bool step_is_open_ = false;  ///< the second half of the step's velocity update is still to come

  app::Breakdown& breakdown_;
  app::Breakdown::Phase force_phase_;
  app::Breakdown::Phase ghost_phase_;
  app::Breakdown::Phase list_phase_;
  app::Breakdown::Phase motion_phase_;
};

namespace detail {

/// Whether ghosts may be sent by the kernel that moves atoms.
template <class Ghosts>
concept has_sender = requires(const Ghosts& ghosts) {
  ghosts.sender();
};

}  // namespace detail

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
bool Engine<Numbers, Space, Ghosts>::sends_from_kernels() const {
  if constexpr (detail::has_sender<Ghosts>) {
    return list_.kind() == ListKind::full && ghosts_.sends_from_kernels();
  } else {
    return false;
  }
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
void Engine<Numbers, Space, Ghosts>::thermostat_half_step() {
  const double own = sum_motion(space_, atoms_).squared_speed;
  const auto all = ghosts_.gather_over_ranks("the thermostat's sum of velocities", std::span(&own, 1));
  const double squared_speed = std::accumulate(all.begin(), all.end(), 0.0);
  scale_velocities(space_, atoms_, nose_hoover_->half_step(squared_speed));
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
double Engine<Numbers, Space, Ghosts>::largest_displacement() const {
  return std::sqrt(largest_squared_distance<Real>(space_, atoms_.owned, listed_positions_, atoms_.positions));
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
void Engine<Numbers, Space, Ghosts>::finish_step() {
  if (!step_is_open_) return;
  const auto timer = breakdown_.time(space_, motion_phase_);
  motion_.end_step(space_, atoms_, step_);
  if (nose_hoover_) thermostat_half_step();
  step_is_open_ = false;
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
