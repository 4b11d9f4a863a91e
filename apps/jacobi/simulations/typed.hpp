#pragma once

#include "common/breakdown.hpp"
#include "common/progress.hpp"
#include "common/rank_sums.hpp"
#include "jacobi/io/run_files.hpp"
#include "jacobi/simulations/make.hpp"
#include "jacobi/simulations/options.hpp"
#include "jacobi/solver.hpp"
#include "jacobi/verify/compare_serial.hpp"
#include "jacobi/verify/field_errors.hpp"
#include "jacobi/verify/verification.hpp"

#include <selvage/comm/grid.hpp>
#include <selvage/counted.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace selvage::jacobi {

/// The simulation for one type and stencil, on the default execution space.
template <class Real, class Stencil>
class TypedSimulation final : public Simulation {
 public:
  static constexpr int D = Stencil::dimensions;
  using Space = Kokkos::DefaultExecutionSpace;

  TypedSimulation(app::Session& session, app::Report& report, const Settings& settings,
                  const Context& context);

  void run() override;

 private:
  [[nodiscard]] Grid<D> make_grid(const Context& context);
  void restore();
  [[nodiscard]] SolverOptions choose_options();
  void describe_plan();
  void measure_rates();
  void step_until_done();
  void write_due_files();
  /// Records the state after step() sweeps. \return whether the tolerance is reached
  [[nodiscard]] bool record_norms();
  [[nodiscard]] NormRow norm_row(double residual, double& iterate_error) const;
  void check_finite(double residual);
  void write_last_field();
  void compare_serial();
  void report_results();
  void report_rate(double seconds);
  void report_convergence();
  void report_overlap();

  template <class Write>
  void with_field(const Write& write);
  [[nodiscard]] bool is_due(std::int64_t every) const { return every > 0 && solver_.step() % every == 0; }
  /// Until the norm or a file is due, or the run ends.
  [[nodiscard]] std::int64_t sweeps_to_next_stop() const;
  [[nodiscard]] double all_cells() const;

  app::Session& session_;
  app::Report& report_;
  Settings settings_;
  Space space_;
  app::Breakdown breakdown_;
  Grid<D> grid_;
  Theory theory_;
  Solver<Real, Stencil, Space> solver_;
  ErrorMeter<Real, D, Space> errors_;
  Verification verification_;
  app::Breakdown::Phase norm_phase_;
  app::Breakdown::Phase output_phase_;
  std::optional<std::int64_t> restarted_at_;
  std::unique_ptr<RunFiles> files_;

  std::int64_t sweeps_ = 0;
  double loop_s_ = 0;  ///< from the first sweep to the last, output not counted
  double output_s_ = 0;
  double copy_bytes_per_s_ = 0;  ///< of all ranks together
  double exchange_s_ = 0;        ///< one exchange that nothing hides, of the slowest rank
  std::optional<NormRow> first_row_;
  std::optional<NormRow> last_row_;
};

template <class Real, class Stencil>
TypedSimulation<Real, Stencil>::TypedSimulation(app::Session& session, app::Report& report,
                                                const Settings& settings, const Context& context)
    : session_(session),
      report_(report),
      settings_(settings),
      breakdown_("jacobi", settings.breakdown),
      grid_(make_grid(context)),
      theory_(theory_of<Stencil>(grid_.cells(), grid_.periodic(), settings.amplitude)),
      solver_(space_, grid_, problem_of<D>(settings), choose_options(), breakdown_),
      errors_(space_, grid_, solver_.problem(), theory_),
      verification_(settings, theory_),
      norm_phase_(breakdown_.phase("norm")),
      output_phase_(breakdown_.phase("output")) {
  if (settings_.standard.restart_path) restore();
  describe_plan();
}

template <class Real, class Stencil>
auto TypedSimulation<Real, Stencil>::make_grid(const Context& context) -> Grid<D> {
  const Grid<D> grid(context, grid_options<D>(settings_));
  for (int axis = 0; axis < D; ++axis) {
    const bool is_cut = grid.ranks()[axis] > 1 || grid.periodic()[axis];
    const std::int64_t smallest = grid.cells()[axis] / grid.ranks()[axis];
    if (!is_cut || smallest >= settings_.steps_per_exchange) continue;
    session_.input().reject(
        "run.steps_per_exchange",
        fmt::format("= {} needs halos of {}, but axis {} has {} on {}: "
                    "boxes of {}",
                    settings_.steps_per_exchange, counted(settings_.steps_per_exchange, "cell"), axis,
                    counted(grid.cells()[axis], "cell"), counted(grid.ranks()[axis], "rank"), smallest));
  }
  return grid;
}

template <class Real, class Stencil>
SolverOptions TypedSimulation<Real, Stencil>::choose_options() {
  SolverOptions options = solver_options(settings_);
  if (settings_.persistent == Persistence::off) return options;
  const std::string reason = refuse_persistent_form<Real, Stencil>(grid_);
  options.persistent = reason.empty();
  if (settings_.persistent == Persistence::on && !reason.empty()) throw Error(ErrorKind::unsupported, reason);
  if (!reason.empty()) report_.decide(fmt::format("persistent off: {}", reason));
  return options;
}

template <class Real, class Stencil>
void TypedSimulation<Real, Stencil>::restore() {
  together(
      session_.comm(), "reading the restart file",
      [&] {
        const Restart restart(*settings_.standard.restart_path, settings_);
        const Box<D> box = grid_.box();
        const auto values =
            restart.read<Real>({{box.begin.begin(), box.begin.end()}, {box.end.begin(), box.end.end()}});
        solver_.restore(restart.step(), values);
      },
      io_timeout_ms());
  restarted_at_ = solver_.step();
}

template <class Real, class Stencil>
void TypedSimulation<Real, Stencil>::describe_plan() {
  report_.decide(fmt::format("{}: {} cells, {}-point, {}, on {} ({})", to_string(settings_.name),
                             fmt::join(grid_.cells(), " x "), Stencil::points, to_string(settings_.precision),
                             counted(grid_.size(), "rank"), fmt::join(grid_.ranks(), " x ")));
  if (grid_.size() > 1) report_.decide(grid_.explain());
  if (solver_.persistent() != nullptr) {
    report_.decide(solver_.persistent()->explain());
    return;
  }
  report_.decide(fmt::format("overlap {}{}, {} per exchange, {} field bytes on rank 0",
                             to_string(settings_.overlap),
                             settings_.chooses_overlap ? " (chosen for this backend)" : "",
                             counted(settings_.steps_per_exchange, "step"), 2 * solver_.field_bytes()));
  report_.decide(solver_.halo().explain());
}

template <class Real, class Stencil>
double TypedSimulation<Real, Stencil>::all_cells() const {
  double cells = 1;
  for (const std::int64_t extent : grid_.cells()) cells *= static_cast<double>(extent);
  return cells;
}

template <class Real, class Stencil>
void TypedSimulation<Real, Stencil>::measure_rates() {
  const double copy_s = solver_.time_copy();
  const double bytes = 2.0 * static_cast<double>(solver_.field_bytes());
  const double slowest_s = app::max_over_ranks(session_.comm(), "timing a copy", copy_s);
  copy_bytes_per_s_ = app::sum_over_ranks(session_.comm(), "timing a copy", bytes) / slowest_s;
  exchange_s_ = app::max_over_ranks(session_.comm(), "timing an exchange", solver_.time_exchange());
}

template <class Real, class Stencil>
void TypedSimulation<Real, Stencil>::run() {
  files_ = std::make_unique<RunFiles>(session_.comm(), settings_, restarted_at_);
  measure_rates();
  step_until_done();
  write_last_field();
  if (settings_.compare_serial) compare_serial();
  report_results();
}

template <class Real, class Stencil>
void TypedSimulation<Real, Stencil>::step_until_done() {
  const std::int64_t last_step = settings_.standard.steps;
  app::Progress progress(session_.talks() && app::standard_output_is_terminal(), solver_.step(), last_step);
  const Kokkos::Timer timer;
  while (true) {
    progress.update(solver_.step());
    write_due_files();
    const bool is_last = solver_.step() == last_step;
    if (is_last || is_due(settings_.norm_every)) {
      ++sweeps_;
      if (record_norms() || is_last) break;
      solver_.accept();
    } else {
      const std::int64_t sweeps = solver_.persistent() != nullptr ? sweeps_to_next_stop() : 1;
      solver_.advance(sweeps);
      sweeps_ += sweeps;
    }
  }
  space_.fence("jacobi: after the last sweep");
  loop_s_ = timer.seconds() - output_s_;
}

template <class Real, class Stencil>
std::int64_t TypedSimulation<Real, Stencil>::sweeps_to_next_stop() const {
  std::int64_t sweeps = settings_.standard.steps - solver_.step();
  for (const std::int64_t every :
       {settings_.norm_every, settings_.write_fields ? settings_.fields_every : 0, settings_.restart_every}) {
    if (every > 0) sweeps = std::min(sweeps, every - solver_.step() % every);
  }
  return sweeps;
}

template <class Real, class Stencil>
template <class Write>
void TypedSimulation<Real, Stencil>::with_field(const Write& write) {
  const auto timer = breakdown_.time(space_, output_phase_);
  const Kokkos::Timer clock;
  const auto values = app::shared_values(solver_.owned_values());
  const Box<D> box = grid_.box();
  write(solver_.step(),
        app::array_block<Real>("u", settings_.cells,
                               {{box.begin.begin(), box.begin.end()}, {box.end.begin(), box.end.end()}},
                               values));
  output_s_ += clock.seconds();
}

template <class Real, class Stencil>
void TypedSimulation<Real, Stencil>::write_due_files() {
  if (settings_.write_fields && is_due(settings_.fields_every)) {
    with_field([&](std::int64_t step, const app::ArrayBlock& u) { files_->write_fields(step, u); });
  }
  if (solver_.step() > restarted_at_.value_or(0) && is_due(settings_.restart_every)) {
    with_field([&](std::int64_t step, const app::ArrayBlock& u) { files_->write_restart(step, u); });
  }
}

template <class Real, class Stencil>
void TypedSimulation<Real, Stencil>::write_last_field() {
  if (!settings_.write_fields || is_due(settings_.fields_every)) return;
  with_field([&](std::int64_t step, const app::ArrayBlock& u) { files_->write_fields(step, u); });
}

template <class Real, class Stencil>
bool TypedSimulation<Real, Stencil>::record_norms() {
  const double own = solver_.try_sweep();
  const auto timer = breakdown_.time(space_, norm_phase_);
  const double residual = std::sqrt(
      app::sum_over_ranks(session_.comm(), fmt::format("the residual at step {}", solver_.step()), own));
  check_finite(residual);
  double iterate_error = std::numeric_limits<double>::quiet_NaN();
  const NormRow row = norm_row(residual, iterate_error);
  files_->append(row);
  if (settings_.standard.verify) verification_.check(row, iterate_error);
  if (!first_row_) first_row_ = row;
  last_row_ = row;
  return settings_.tolerance > 0 && residual <= settings_.tolerance;
}

template <class Real, class Stencil>
void TypedSimulation<Real, Stencil>::check_finite(double residual) {
  if (std::isfinite(residual)) return;
  // All ranks added the same numbers and so come here together.
  together(session_.comm(), "checking the residual", [&] {
    throw Error(
        ErrorKind::numeric,
        fmt::format("the residual at step {} is {}: the field holds values that are not finite or too large "
                    "to square; files written before this step are kept",
                    solver_.step(), residual));
  });
}

template <class Real, class Stencil>
NormRow TypedSimulation<Real, Stencil>::norm_row(double residual, double& iterate_error) const {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const std::int64_t step = solver_.step();
  if (settings_.name != Case::dirichlet) return {step, residual, none, none, none, none};
  const FieldErrors own = errors_.measure(solver_.first_cell(), solver_.strides(), step);
  const double values[] = {own.projection, own.max_iterate, own.max_exact};
  const auto all =
      app::gather_everywhere(session_.comm(), fmt::format("the errors at step {}", step), values);
  FieldErrors errors;
  for (std::size_t i = 0; i < all.size(); i += 3) errors.join({all[i], all[i + 1], all[i + 2]});
  iterate_error = errors.max_iterate;
  return {step,
          residual,
          theory_.residual(step),
          errors.projection / (theory_.discrete_amplitude * theory_.squared_norm),
          theory_.error(step),
          errors.max_exact};
}

template <class Real, class Stencil>
void TypedSimulation<Real, Stencil>::compare_serial() {
  const auto result =
      compare_with_serial<Stencil, Real>(grid_, solver_.problem(), solver_.step(), solver_.owned_values());
  std::string detail = fmt::format("{} cells equal the serial solution bit by bit", result.cells);
  if (result.different > 0) {
    detail = fmt::format(
        "{} of {} cells differ from the serial solution; the first one, [{}], is {} instead of {}",
        result.different, result.cells, fmt::join(result.first, ", "), result.distributed, result.serial);
  }
  report_.verify("compare-serial", result.different == 0, detail);
}

template <class Real, class Stencil>
void TypedSimulation<Real, Stencil>::report_results() {
  const double seconds = app::max_over_ranks(session_.comm(), "the run's time", loop_s_);
  report_.result("steps", solver_.step());
  report_.result("sweeps", sweeps_);
  report_.result("seconds", seconds);
  report_convergence();
  report_rate(seconds);
  if (settings_.overlap == Overlap::host && breakdown_.measures() && solver_.persistent() == nullptr)
    report_overlap();
  report_.breakdown(breakdown_);
  if (settings_.standard.verify) verification_.conclude(report_);
  report_.finish(files_->dir());
}

template <class Real, class Stencil>
void TypedSimulation<Real, Stencil>::report_convergence() {
  report_.result("residual", last_row_->residual);
  const std::int64_t steps = last_row_->step - first_row_->step;
  if (steps > 0 && first_row_->residual > 0) {
    const double rate =
        std::pow(last_row_->residual / first_row_->residual, 1.0 / static_cast<double>(steps));
    report_.result("convergence_rate", rate);
    session_.say("convergence {:.12g} per sweep{}", rate,
                 settings_.name == Case::dirichlet ? fmt::format(", theory {:.12g}", theory_.lambda()) : "");
  }
  if (settings_.name != Case::dirichlet) return;
  report_.result("convergence_rate_theory", theory_.lambda());
  report_.result("error_ratio", last_row_->error);
  report_.result("error_ratio_theory", last_row_->theory);
  report_.result("error_exact_max", last_row_->error_exact);
  session_.say(
      "after {} sweeps the error is {:.12g} of the discrete solution, theory {:.12g}; the exact solution is "
      "missed by {:.3g}",
      last_row_->step, last_row_->error, last_row_->theory, last_row_->error_exact);
}

template <class Real, class Stencil>
void TypedSimulation<Real, Stencil>::report_overlap() {
  for (const auto& row : breakdown_.gather(session_.comm())) {
    if (row.name != "halo" || row.calls == 0) continue;
    // Two calls, start and finish, per exchange.
    const double visible_s = row.avg_s / (static_cast<double>(row.calls) / 2);
    const double hidden_share = std::clamp(1 - visible_s / exchange_s_, 0.0, 1.0);
    report_.result("halo_hidden_share", hidden_share);
    session_.say("an exchange by itself takes {:.1f} us; {:.0f} % of it was hidden behind the interior",
                 exchange_s_ * 1e6, 100 * hidden_share);
  }
}

template <class Real, class Stencil>
void TypedSimulation<Real, Stencil>::report_rate(double seconds) {
  const double updates_per_s = all_cells() * static_cast<double>(sweeps_) / seconds;
  // Each update has to read and write one value; neighbours come from caches at best.
  const double bytes_per_s = updates_per_s * 2 * sizeof(Real);
  report_.result("bandwidth_GB_per_s", bytes_per_s * 1e-9);
  report_.result("copy_GB_per_s", copy_bytes_per_s_ * 1e-9);
  report_.result("exchange_us", exchange_s_ * 1e6);
  session_.say("{:.2f} GB/s, {:.0f} % of the copy rate of {:.2f} GB/s", bytes_per_s * 1e-9,
               100 * bytes_per_s / copy_bytes_per_s_, copy_bytes_per_s_ * 1e-9);
  report_.figure_of_merit(updates_per_s * 1e-9, "GLUPS");
}

template <class Stencil>
std::unique_ptr<Simulation> make_simulation_of(app::Session& session, app::Report& report,
                                               const Settings& settings, const Context& context) {
  if (settings.precision == Precision::fp32) {
    return std::make_unique<TypedSimulation<float, Stencil>>(session, report, settings, context);
  }
  return std::make_unique<TypedSimulation<double, Stencil>>(session, report, settings, context);
}

}  // namespace selvage::jacobi
