#include "md/cli/settings.hpp"

#include <Kokkos_Core.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace selvage::md {
namespace {

constexpr bool host_backend =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, Kokkos::DefaultExecutionSpace::memory_space>::accessible;

void read_system(app::Input& input, Settings& settings) {
  const std::string path = input.get_text("system.state", "");
  if (!path.empty()) {
    settings.state_path = path;
    for (const char* key :
         {"system.cells", "system.density", "system.droplet_radius", "system.droplet_centre"}) {
      if (input.has(key)) input.reject(key, "is for the lattice, and system.state names a file");
    }
  }
  const auto cells =
      input.list<std::int64_t>("system.cells", {20, 20, 20},
                               {.each = {.least = 1, .most = 100000}, .least_length = 3, .most_length = 3});
  std::ranges::copy(cells, settings.cells.begin());
  settings.names_cells = input.has("system.cells");
  settings.density =
      input.get<double>("system.density", 0.8442, {.least = 0, .most = 10, .above_least = true});
}

void read_droplet(app::Input& input, Settings& settings) {
  const double radius = input.get<double>("system.droplet_radius", 0, {.least = 0});
  const auto centre =
      input.list<double>("system.droplet_centre", {0.5, 0.5, 0.5},
                         {.each = {.least = 0, .most = 1}, .least_length = 3, .most_length = 3});
  if (radius <= 0) return;
  settings.droplet = Droplet{radius, {}};
  std::ranges::copy(centre, settings.droplet->centre.begin());
}

void read_velocities(app::Input& input, Settings& settings) {
  const double temperature = input.get<double>("velocity.temperature", 1.44, {.least = 0});
  if (!settings.state_path || input.has("velocity.temperature")) settings.temperature = temperature;
  settings.seed = static_cast<std::int32_t>(input.get<std::int64_t>(
      "velocity.seed", 87287, {.least = 1, .most = std::numeric_limits<std::int32_t>::max()}));
}

void read_pairs(app::Input& input, Settings& settings) {
  EngineOptions& engine = settings.engine;
  engine.cutoff = input.get<double>("pair.cutoff", 2.5, {.least = 0.5, .most = 20});
  engine.shifted = input.get_bool("pair.shifted", false);
  const std::string kind = input.choice("list.kind", "auto", {"auto", "full", "half"});
  settings.chooses_list = kind == "auto";
  engine.list = settings.chooses_list ? list_of_build : kind == "half" ? ListKind::half : ListKind::full;
  engine.skin = input.get<double>("list.skin", 0.3, {.least = 0, .most = 5});
  engine.checks_displacement =
      input.choice("list.rebuild", "displacement", {"displacement", "fixed"}) == "displacement";
  engine.rebuild_every =
      input.get<int>("list.every", engine.checks_displacement ? 1 : 20, {.least = 1, .most = 1000000});
  engine.counts_dangerous = input.get_bool("list.count_dangerous", true);
}

void read_thermostat(app::Input& input, Settings& settings) {
  const std::string kind = input.choice("thermostat.kind", "none", {"none", "langevin", "nose-hoover"});
  const auto temperature = input.get<double>("thermostat.temperature", 1.0, {.least = 0});
  const auto damping = input.get<double>("thermostat.damping", 1.0, {.least = 0, .above_least = true});
  const auto seed = input.get<std::int64_t>("thermostat.seed", 1, {.least = 0});
  if (kind == "langevin") settings.engine.langevin = LangevinOptions{temperature, damping, seed};
  if (kind != "nose-hoover") return;
  if (temperature == 0) input.reject("thermostat.temperature", "has to be above 0 for nose-hoover");
  if (input.has("thermostat.seed"))
    input.reject("thermostat.seed", "is for langevin: nose-hoover draws nothing");
  settings.engine.nose_hoover = NoseHooverOptions{temperature, damping};
}

void read_balance(app::Input& input, Settings& settings) {
  const bool is_on = input.choice("balance.kind", "none", {"none", "atoms"}) == "atoms";
  BalanceOptions balance;
  balance.threshold = input.get<double>("balance.threshold", balance.threshold, {.least = 1, .most = 1000});
  balance.every = input.get<int>("balance.every", balance.every, {.least = 1, .most = 1000000});
  if (is_on) settings.engine.balance = balance;
}

void read_run(app::Input& input, Settings& settings) {
  settings.engine.dt = input.get<double>("run.dt", 0.005, {.least = 0, .most = 1, .above_least = true});
  const std::string precision = input.choice("run.precision", "fp64", {"fp32", "mixed", "fp64"});
  settings.precision = precision == "fp64"    ? Precision::fp64
                       : precision == "mixed" ? Precision::mixed
                                              : Precision::fp32;
  settings.breakdown = input.get_bool("run.breakdown", host_backend);
  settings.thermo_every = input.get<std::int64_t>("output.thermo_every", 100, {.least = 1});
  settings.trajectory_every = input.get<std::int64_t>("output.trajectory_every", 0, {.least = 0});
  settings.restart_every = input.get<std::int64_t>("restart.every", 0, {.least = 0});
}

}  // namespace

std::string_view to_string(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return "fp32";
    case Precision::mixed:
      return "mixed";
    default:
      return "fp64";
  }
}

std::string_view to_string(ListKind kind) {
  return kind == ListKind::full ? "full" : "half";
}

Settings read_settings(app::Input& input) {
  Settings settings{};
  read_system(input, settings);
  read_droplet(input, settings);
  read_velocities(input, settings);
  read_pairs(input, settings);
  read_thermostat(input, settings);
  read_balance(input, settings);
  read_run(input, settings);
  settings.standard =
      app::read_standard_options(input, {.steps = 100,
                                         .out_dir = "out/md",
                                         .transports = {"auto", "peer", "mpi_direct", "mpi_staged"},
                                         .initiations = {"auto", "host", "stream", "queue", "kernel"}});
  input.reject_unknown();
  return settings;
}

}  // namespace selvage::md
