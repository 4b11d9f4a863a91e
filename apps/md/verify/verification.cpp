#include "md/verify/verification.hpp"

#include "md/verify/all_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace selvage::md {
namespace {

/// What LAMMPS's benchmark `in.lj` prints, with its Kokkos package on GPUs the same: units lj, fcc of density 0.8442,
/// `velocity all create 1.44 87287 loop geom`, cutoff 2.5 unshifted, time step 0.005. NaN: not known.
struct Known {
  std::array<std::int64_t, 3> cells;
  std::int64_t step;
  double temperature;
  double pair_energy;
  double total_energy;
  double pressure;
  double tolerance;  ///< relative: how many digits are known and can be reproduced
};
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr Known benchmark[] = {
    {{20, 20, 20}, 0, 1.44, -6.77336805323, -4.61343555323, -5.01970725909, 1e-11},
    {{20, 20, 20}, 10, 1.12539487029, -6.30005271976, -4.61201316721, -2.559685226, 1e-10},
    {{20, 20, 20}, 50, 0.740091517741, -5.73150426763, -4.62140168281, 0.335273324524, 1e-9},
    {{20, 20, 20}, 100, 0.75745310324, -5.75850548602, -4.62236133677, 0.207261053625, 1e-8},
    {{40, 40, 40}, 100, 0.75865617, unknown, unknown, 0.19586104, 1e-7},
    {{80, 80, 80}, 100, 0.75921977, unknown, unknown, 0.19208802, 1e-7},
    {{160, 160, 160}, 100, 0.75918554, unknown, unknown, 0.19195085, 1e-7},
    // Not LAMMPS's: of so many atoms the temperature is that of half as many within some parts in ten thousand.
    {{160, 160, 320}, 100, 0.75918554, unknown, unknown, unknown, 1e-3},
};
/// The crystal's own energy is the same whatever its size.
constexpr double crystal_energy = benchmark[0].pair_energy;

/// How far a shifted run's energy may stray. Velocity Verlet keeps another energy than the one that is measured: they differ
/// by terms of dt^2, with what the atoms do (Hairer, Lubich, Wanner, Geometric Numerical Integration, IX.8). Those are large
/// while atoms leave the lattice that they start on, 56 dt^2 per atom at most in the shipped cases, and within 8 dt^2 of each
/// other once it has melted, with any dt up to 0.005; so a bound for all rows of a run, wherever its rows fall, needs both.
/// Beyond that the energy drifts with the forces' step at the cutoff. Of a liquid of density 0.8442 that starts at
/// temperatures up to 1.44.
constexpr double settling_time = 0.3;    ///< tau
constexpr double settling_scatter = 80;  ///< epsilon per tau^2, times dt^2
constexpr double settled_scatter = 10;   ///< the same
constexpr double drift_per_time = 7e-6;  ///< epsilon per tau

/// What rounding alone may do to the energy, epsilon per atom: more than the bounds above where the time step is short.
double energy_rounding(Precision precision) {
  if (precision == Precision::fp64) return 1e-12;
  return precision == Precision::mixed ? 1e-5 : 1e-3;
}

/// How much of the known digits a precision can give.
double loosened(Precision precision, double tolerance) {
  if (precision == Precision::fp64) return tolerance;
  return precision == Precision::mixed ? std::max(tolerance, 1e-5) : std::max(tolerance, 1e-4);
}

}  // namespace

Verification::Verification(const Settings& settings, std::int64_t atoms)
    : settings_(settings), atoms_(atoms) {}

void Verification::Worst::take(double new_difference, double new_allowed, std::string new_where) {
  // Written so that NaN is the worst.
  const double new_share =
      std::isnan(new_difference) ? std::numeric_limits<double>::infinity() : new_difference / new_allowed;
  if (new_share <= share) return;
  *this = {new_share, new_difference, new_allowed, std::move(new_where)};
}

bool Verification::is_benchmark() const {
  const EngineOptions& engine = settings_.engine;
  const bool same_atoms = !settings_.state_path && !settings_.droplet && settings_.density == 0.8442 &&
                          settings_.temperature == 1.44 && settings_.seed == 87287;
  return same_atoms && engine.cutoff == 2.5 && !engine.shifted && engine.dt == 0.005 && engine.skin == 0.3 &&
         !engine.langevin && !engine.nose_hoover;
}

bool Verification::has_benchmark_lists() const {
  return !settings_.engine.checks_displacement && settings_.engine.rebuild_every == 20;
}

void Verification::check(const ThermoRow& row) {
  if (is_benchmark()) check_known(row);
  if (settings_.engine.langevin) return;
  const bool is_fp32 = settings_.precision == Precision::fp32;
  momentum_.take(row.momentum, is_fp32 ? 1e-5 : 1e-12, fmt::format("at step {}", row.step));
  if (settings_.engine.nose_hoover) return;
  // The bounds are for time steps up to this one.
  if (settings_.engine.shifted && settings_.engine.dt <= 0.005) check_energy(row);
}

void Verification::check_energy(const ThermoRow& row) {
  const double dt = settings_.engine.dt;
  const double rounding = energy_rounding(settings_.precision);
  const auto compare = [&](const ThermoRow& reference, double scatter) {
    const double drift = drift_per_time * dt * static_cast<double>(row.step - reference.step);
    energy_.take(std::abs(row.total_energy - reference.total_energy), scatter * dt * dt + drift + rounding,
                 fmt::format("from step {} to step {}", reference.step, row.step));
  };
  if (!first_) first_ = row;
  compare(*first_, settling_scatter);
  if (static_cast<double>(row.step) * dt < settling_time) return;
  if (!settled_) settled_ = row;
  compare(*settled_, settled_scatter);
}

void Verification::check_known(const ThermoRow& row) {
  if (row.step == 0) {
    known_.take(std::abs(row.pair_energy / crystal_energy - 1), loosened(settings_.precision, 1e-11),
                "the pair energy at step 0");
  }
  // Fixed lists miss some pairs, and LAMMPS's figures with them: others differ from the fifth digit on.
  if (row.step > 0 && !has_benchmark_lists()) return;
  for (const Known& known : benchmark) {
    if (row.step != known.step || settings_.cells != known.cells) continue;
    const std::pair<double, double> figures[] = {{row.temperature, known.temperature},
                                                 {row.pair_energy, known.pair_energy},
                                                 {row.total_energy, known.total_energy},
                                                 {row.pressure, known.pressure}};
    const char* names[] = {"temperature", "pair energy", "total energy", "pressure"};
    for (int i = 0; i < 4; ++i) {
      if (std::isnan(figures[i].second)) continue;
      known_.take(std::abs(figures[i].first / figures[i].second - 1),
                  loosened(settings_.precision, known.tolerance),
                  fmt::format("the {} at step {}", names[i], row.step));
    }
  }
}

void Verification::check_forces(const State& state, const std::vector<Vec3<double>>& forces) {
  const std::vector<Vec3<double>> expected = all_pair_forces(state, settings_.engine.cutoff);
  double largest = 0;
  for (const auto& f : expected) largest = std::max({largest, std::abs(f.x), std::abs(f.y), std::abs(f.z)});
  const double allowed = (settings_.precision == Precision::fp64 ? 1e-12 : 1e-4) * std::max(largest, 1.0);
  for (std::size_t i = 0; i < forces.size(); ++i) {
    const double difference =
        std::max({std::abs(forces[i].x - expected[i].x), std::abs(forces[i].y - expected[i].y),
                  std::abs(forces[i].z - expected[i].z)});
    forces_.take(difference, allowed, fmt::format("on atom {}", state.ids[i]));
  }
}

std::vector<Verification::Outcome> Verification::outcomes() const {
  std::vector<Outcome> result;
  const auto add = [&](const char* name, const char* quantity, const Worst& worst) {
    if (worst.share < 0) return;
    result.push_back({name, worst.share <= 1,
                      fmt::format("{} differs by at most {:.2e} (allowed {:.2e}, worst {})", quantity,
                                  worst.difference, worst.allowed, worst.where)});
  };
  add("known figures", "a figure relative to LAMMPS's", known_);
  add("momentum", "a component per atom from 0", momentum_);
  add("energy", "the total energy per atom", energy_);
  add("forces", "a component from the sum over all pairs", forces_);
  if (result.empty()) result.push_back({"anything", false, "nothing about this run is known"});
  return result;
}

}  // namespace selvage::md
