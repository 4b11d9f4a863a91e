#pragma once

#include "common/breakdown.hpp"
#include "common/progress.hpp"
#include "common/rank_sums.hpp"
#include "md/engine.hpp"
#include "md/ghosts/load.hpp"
#include "md/ghosts/rank_ghosts.hpp"
#include "md/io/run_files.hpp"
#include "md/physics/atom_forces.hpp"
#include "md/simulations/make.hpp"
#include "md/verify/verification.hpp"

#include <selvage/counted.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace selvage::md {

/// The simulation for one precision, on the default execution space.
template <class Numbers, class Ghosts>
class TypedSimulation final : public Simulation {
 public:
  using Space = Kokkos::DefaultExecutionSpace;

  TypedSimulation(app::Session& session, app::Report& report, const Settings& settings, const Start& start,
                  const State& own, Ghosts ghosts);

  void run() override;

 private:
  void describe_plan();
  void step_until_done();
  void record_thermo();
  void write_due_files();
  void verify_forces();
  void report_load();
  void warn_of_dangerous_rebuilds() const;
  void report_results();
  [[nodiscard]] bool is_due(std::int64_t every, std::int64_t step) const {
    return every > 0 && step % every == 0;
  }
  [[nodiscard]] bool thermo_is_due(std::int64_t step) const {
    return is_due(settings_.thermo_every, step) || step == settings_.standard.steps;
  }

  app::Session& session_;
  app::Report& report_;
  Settings settings_;
  std::optional<std::int64_t> restarted_at_;
  Space space_;
  app::Breakdown breakdown_;
  Engine<Numbers, Space, Ghosts> engine_;
  std::int64_t all_atoms_;
  Verification verification_;
  app::Breakdown::Phase output_phase_;
  std::unique_ptr<RunFiles> files_;
  std::optional<app::Progress> progress_;
  ThermoRow last_row_;
  double loop_s_ = 0;  ///< from the first step to the last, files not counted, on the slowest rank
  double output_s_ = 0;
};

template <class Numbers, class Ghosts>
TypedSimulation<Numbers, Ghosts>::TypedSimulation(app::Session& session, app::Report& report,
                                                  const Settings& settings, const Start& start,
                                                  const State& own, Ghosts ghosts)
    : session_(session),
      report_(report),
      settings_(settings),
      restarted_at_(start.restarted_at),
      breakdown_("md", settings.breakdown),
      engine_(space_, own, settings.engine, std::move(ghosts), breakdown_),
      all_atoms_(start.state.atoms()),
      verification_(settings, start.state.atoms()),
      output_phase_(breakdown_.phase("output")) {
  describe_plan();
}

template <class Numbers, class Ghosts>
void TypedSimulation<Numbers, Ghosts>::describe_plan() {
  const EngineOptions& engine = settings_.engine;
  report_.decide(fmt::format("{}, {} on rank 0, {}, cutoff {}{}, {} list{}, skin {}, rebuilt {} {}",
                             counted(all_atoms_, "atom"), counted(engine_.ghosts(), "ghost"),
                             to_string(settings_.precision), engine.cutoff, engine.shifted ? " shifted" : "",
                             to_string(engine.list), settings_.chooses_list ? " (chosen for this build)" : "",
                             engine.skin,
                             engine.checks_displacement ? "when an atom has moved half of it, checked every"
                             : engine.counts_dangerous  ? "every"
                                                        : "however far atoms have moved, every",
                             counted(engine.rebuild_every, "step")));
  report_.decide(fmt::format("{}, {}", engine_.describe_boxes(), describe_load(engine_.atoms_by_rank())));
  report_.decide(engine_.explain());
}

template <class Numbers, class Ghosts>
void TypedSimulation<Numbers, Ghosts>::run() {
  files_ = std::make_unique<RunFiles>(session_.comm(), settings_, restarted_at_);
  step_until_done();
  if (settings_.standard.verify) verify_forces();
  report_results();
}

template <class Numbers, class Ghosts>
void TypedSimulation<Numbers, Ghosts>::step_until_done() {
  const std::int64_t last_step = settings_.standard.steps;
  session_.say("{}", thermo_header());
  progress_.emplace(session_.talks() && app::standard_output_is_terminal(), engine_.step(), last_step);
  const Kokkos::Timer timer;
  record_thermo();
  write_due_files();
  while (engine_.step() < last_step) {
    const std::int64_t next = engine_.step() + 1;
    engine_.advance(thermo_is_due(next), is_due(settings_.restart_every, next));
    if (thermo_is_due(engine_.step())) record_thermo();
    write_due_files();
    progress_->update(engine_.step());
  }
  space_.fence("md: after the last step");
  loop_s_ = app::max_over_ranks(session_.comm(), "the run's time", timer.seconds() - output_s_);
  progress_->clear();
}

template <class Numbers, class Ghosts>
void TypedSimulation<Numbers, Ghosts>::record_thermo() {
  last_row_ = engine_.measure();
  progress_->clear();
  if (session_.ranks() > 1) {
    progress_->note(fmt::format("imbalance {:.2f}", imbalance(engine_.atoms_by_rank())));
  }
  session_.say("{}", thermo_line(last_row_));
  // A restarted run's first row is in the file already.
  if (engine_.step() != restarted_at_.value_or(-1)) files_->append(last_row_);
  if (settings_.standard.verify) verification_.check(last_row_);
}

template <class Numbers, class Ghosts>
void TypedSimulation<Numbers, Ghosts>::write_due_files() {
  const std::int64_t step = engine_.step();
  if (step == restarted_at_.value_or(-1)) return;
  const bool trajectory = is_due(settings_.trajectory_every, step);
  const bool restart = step > 0 && is_due(settings_.restart_every, step);
  if (!trajectory && !restart) return;
  const auto timer = breakdown_.time(space_, output_phase_);
  const Kokkos::Timer clock;
  const auto state = std::make_shared<const State>(engine_.state());
  if (trajectory) files_->write_trajectory(state);
  if (restart) files_->write_restart(state);
  output_s_ += clock.seconds();
}

template <class Numbers, class Ghosts>
void TypedSimulation<Numbers, Ghosts>::verify_forces() {
  if (all_atoms_ > Verification::most_atoms_for_all_pairs) return;
  const AtomForces all = gather_forces(session_.comm(), engine_.state(), engine_.forces());
  verification_.check_forces(all.state, all.forces);
}

template <class Numbers, class Ghosts>
void TypedSimulation<Numbers, Ghosts>::report_load() {
  report_.result("atom_imbalance", imbalance(engine_.atoms_by_rank()));
  report_.result("planes_moved", engine_.balanced());
  std::string line =
      fmt::format("load: {}, {}", engine_.describe_boxes(), describe_load(engine_.atoms_by_rank()));
  if (breakdown_.measures()) {
    const double own = breakdown_.seconds(breakdown_.phase("force"));
    const auto force_s = app::gather_everywhere(session_.comm(), "the time of forces", std::span(&own, 1));
    report_.result("force_time_imbalance", imbalance(force_s));
    line += fmt::format(", of the forces' time {:.3f}", imbalance(force_s));
  }
  session_.say("{}", line);
}

template <class Numbers, class Ghosts>
void TypedSimulation<Numbers, Ghosts>::warn_of_dangerous_rebuilds() const {
  if (!session_.is_root() || engine_.dangerous_rebuilds() == 0) return;
  const EngineOptions& engine = settings_.engine;
  std::fflush(stdout);
  fmt::print(
      stderr,
      "{}: warning: in {} of {} of the neighbour list an atom had moved more than half the skin ({}) before: "
      "pairs may have been missed; set {}a thicker list.skin or a smaller list.every\n",
      session_.info().name, engine_.dangerous_rebuilds(), counted(engine_.rebuilds(), "rebuild"),
      engine.skin / 2, engine.checks_displacement ? "" : "list.rebuild = displacement, ");
  std::fflush(stderr);
}

template <class Numbers, class Ghosts>
void TypedSimulation<Numbers, Ghosts>::report_results() {
  const std::int64_t steps = engine_.step() - restarted_at_.value_or(0);
  report_.result("steps", engine_.step());
  report_.result("atoms", all_atoms_);
  report_.result("seconds", loop_s_);
  report_.result("rebuilds", engine_.rebuilds());
  if (settings_.engine.counts_dangerous) {
    report_.result("dangerous_rebuilds", engine_.dangerous_rebuilds());
    warn_of_dangerous_rebuilds();
  }
  report_.result("temperature", last_row_.temperature);
  report_.result("pair_energy", last_row_.pair_energy);
  report_.result("total_energy", last_row_.total_energy);
  report_.result("pressure", last_row_.pressure);
  report_load();
  report_.breakdown(breakdown_);
  if (settings_.standard.verify) {
    for (const auto& outcome : verification_.outcomes())
      report_.verify(outcome.name, outcome.ok, outcome.detail);
  }
  report_.figure_of_merit(static_cast<double>(all_atoms_) * static_cast<double>(steps) / loop_s_ * 1e-6,
                          "Matom-steps/s");
  report_.finish(files_->dir());
}

inline std::optional<std::array<int, 3>> boxes_wanted(const app::StandardOptions& options) {
  if (!options.ranks_grid) return {};
  std::array<int, 3> counts{};
  std::ranges::copy(*options.ranks_grid, counts.begin());
  return counts;
}

inline ListHalo::Options paths_wanted(const app::StandardOptions& options) {
  ListHalo::Options wanted;
  if (options.transport != "auto") wanted.transport = parse_transport(options.transport);
  if (options.initiation != "auto") wanted.initiation = parse_initiation(options.initiation);
  return wanted;
}

template <class Numbers>
std::unique_ptr<Simulation> make_simulation_of(app::Session& session, app::Report& report,
                                               const Settings& settings, const Context& context,
                                               const Start& start) {
  using Space = Kokkos::DefaultExecutionSpace;
  using Real = typename Numbers::Stored;
  const double width = settings.engine.list_cutoff();
  Decomposition decomposition(start.state.domain, context.size(), context.rank(),
                              boxes_wanted(settings.standard));
  if (context.size() == 1) {
    using Ghosts = PeriodicImages<Real, Space>;
    return std::make_unique<TypedSimulation<Numbers, Ghosts>>(session, report, settings, start, start.state,
                                                              Ghosts(start.state.domain, width));
  }
  using Ghosts = RankGhosts<Real, Space>;
  const ListHalo::Options paths = paths_wanted(settings.standard);
  Ghosts ghosts(Space(), context, decomposition, width, paths);
  if (settings.engine.balance) {
    // Every rank has all atoms here, so nothing is sent. A restart begins with the planes that the run had.
    decomposition.balance(width, [&](const Decomposition& so_far, int axis) {
      return count_atoms<Real>(start.state, so_far, axis);
    });
    ghosts = Ghosts(Space(), context, decomposition, width, paths);
  }
  return std::make_unique<TypedSimulation<Numbers, Ghosts>>(
      session, report, settings, start, atoms_of_rank<Real>(start.state, decomposition, context.rank()),
      std::move(ghosts));
}

}  // namespace selvage::md
