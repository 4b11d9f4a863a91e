#pragma once

#include "common/breakdown.hpp"
#include "md/engine_options.hpp"
#include "md/ghosts/load.hpp"
#include "md/ghosts/periodic_images.hpp"
#include "md/physics/cells.hpp"
#include "md/physics/distances.hpp"
#include "md/physics/lennard_jones.hpp"
#include "md/physics/motion.hpp"
#include "md/physics/neighbour_list.hpp"
#include "md/physics/nose_hoover.hpp"
#include "md/physics/thermo.hpp"

#include <selvage/error.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>

#include <cstdint>
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

}  // namespace selvage::md

#include "md/physics/measure.hpp"
#include "md/step.hpp"
