#include "md/simulation.hpp"

#include "md/io/run_files.hpp"
#include "md/io/state_files/read_state.hpp"
#include "md/physics/lattice.hpp"
#include "md/physics/velocities.hpp"
#include "md/simulations/make.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <limits>

namespace selvage::md {
namespace {

/// Beyond it an atom would meet two images of another, or of itself.
void check_box(const State& state, const EngineOptions& engine) {
  for (int axis = 0; axis < 3; ++axis) {
    if (state.domain.length(axis) >= engine.list_cutoff()) continue;
    throw Error(ErrorKind::input,
                fmt::format("the box is {:.6g} sigma long along {}, and pair.cutoff + list.skin is {:.6g}",
                            state.domain.length(axis), "xyz"[axis], engine.list_cutoff()));
  }
}

double lattice_atoms(const Settings& settings) {
  return 4.0 * static_cast<double>(settings.cells[0]) * static_cast<double>(settings.cells[1]) *
         static_cast<double>(settings.cells[2]);
}

/// A run of a lattice keeps all its atoms.
void check_lattice(const Settings& settings, const State& state) {
  const bool is_whole = !settings.state_path && !settings.droplet && settings.names_cells;
  if (!is_whole || static_cast<double>(state.atoms()) == lattice_atoms(settings)) return;
  throw Error(ErrorKind::input,
              fmt::format("{} has {} atoms, and system.cells gives {}", *settings.standard.restart_path,
                          state.atoms(), lattice_atoms(settings)));
}

Start first_state(const Settings& settings) {
  if (settings.standard.restart_path) {
    const State state = read_restart(*settings.standard.restart_path, settings);
    check_lattice(settings, state);
    return {state, state.step};
  }
  if (!settings.state_path) {
    State crystal = fcc_crystal(settings.cells, settings.density);
    if (settings.droplet) crystal = cut_droplet(crystal, *settings.droplet);
    check_state(crystal, "system.droplet_radius");
    return {std::move(crystal), {}};
  }
  StateFile file = read_state(*settings.state_path);
  if (!file.has_velocities && !settings.temperature) {
    throw Error(ErrorKind::input,
                fmt::format("{} has no velocities: give velocity.temperature", *settings.state_path));
  }
  return {std::move(file.state), {}};
}

void check_size(const Settings& settings) {
  const double atoms = lattice_atoms(settings);
  if (settings.state_path || atoms <= std::numeric_limits<std::int32_t>::max()) return;
  throw Error(ErrorKind::input,
              fmt::format("system.cells gives {:.4g} atoms to one rank, which can count 2147483647", atoms));
}

}  // namespace

Start make_start(const Settings& settings) {
  check_size(settings);
  Start start = first_state(settings);
  check_box(start.state, settings.engine);
  if (!start.restarted_at && settings.temperature) {
    if (start.state.atoms() < 2) throw Error(ErrorKind::input, "one atom alone has no temperature");
    draw_velocities(start.state, *settings.temperature, settings.seed);
  }
  return start;
}

std::unique_ptr<Simulation> make_simulation(app::Session& session, app::Report& report,
                                            const Settings& settings, const Context& context,
                                            const Start& start) {
  switch (settings.precision) {
    case Precision::fp32:
      return make_simulation_of<Fp32>(session, report, settings, context, start);
    case Precision::mixed:
      return make_simulation_of<Mixed>(session, report, settings, context, start);
    default:
      return make_simulation_of<Fp64>(session, report, settings, context, start);
  }
}

}  // namespace selvage::md
