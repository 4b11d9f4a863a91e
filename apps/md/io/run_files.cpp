#include "md/io/run_files.hpp"

#include "common/output.hpp"
#include "md/io/state_files/h5md.hpp"

#include <selvage/agreement.hpp>
#include <selvage/atomic_file.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <array>

namespace selvage::md {
namespace {

constexpr const char* trajectory = "trajectory";

/// Attributes that hold a Nose-Hoover thermostat's state.
constexpr const char* friction_name = "thermostat_friction";
constexpr const char* position_name = "thermostat_position";

/// What has to be equal for a run to go on where another stopped.
app::Attributes describe(const Settings& settings) {
  const EngineOptions& engine = settings.engine;
  app::Attributes attributes{{"precision", std::string(to_string(settings.precision))},
                             {"dt", engine.dt},
                             {"cutoff", engine.cutoff},
                             {"shifted", std::int64_t{engine.shifted}},
                             {"skin", engine.skin},
                             {"list", std::string(to_string(engine.list))},
                             {"rebuild_every", std::int64_t{engine.rebuild_every}},
                             {"checks_displacement", std::int64_t{engine.checks_displacement}},
                             {"thermostat", std::string(engine.langevin      ? "langevin"
                                                        : engine.nose_hoover ? "nose-hoover"
                                                                             : "none")}};
  if (engine.langevin) {
    attributes["thermostat_temperature"] = engine.langevin->temperature;
    attributes["thermostat_damping"] = engine.langevin->damping;
    attributes["thermostat_seed"] = engine.langevin->seed;
  }
  if (engine.nose_hoover) {
    attributes["thermostat_temperature"] = engine.nose_hoover->temperature;
    attributes["thermostat_damping"] = engine.nose_hoover->damping;
  }
  attributes["balance"] = std::string(engine.balance ? "atoms" : "none");
  if (engine.balance) {
    attributes["balance_threshold"] = engine.balance->threshold;
    attributes["balance_every"] = std::int64_t{engine.balance->every};
  }
  return attributes;
}

/// In the input's words: list.rebuild has a default, which need not be that of the run before.
void require_same_lists(const app::Hdf5Reader& file, const std::string& path, const EngineOptions& engine) {
  const auto describe_lists = [](bool checks_displacement, std::int64_t every) {
    return fmt::format("list.rebuild = \"{}\" and list.every = {}",
                       checks_displacement ? "displacement" : "fixed", every);
  };
  const std::string found =
      describe_lists(file.integer("checks_displacement") != 0, file.integer("rebuild_every"));
  const std::string wanted = describe_lists(engine.checks_displacement, engine.rebuild_every);
  if (found == wanted) return;
  throw Error(ErrorKind::input,
              fmt::format("{} can't be continued here: it has {}, and this run {}: give what the file has",
                          path, found, wanted));
}

std::unique_ptr<app::CsvHistory> open_thermo(MPI_Comm comm, const std::string& dir,
                                             std::optional<std::int64_t> restarted_at) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  if (rank != 0) return nullptr;
  // The restart's own row is kept.
  std::optional<std::int64_t> first_new_step;
  if (restarted_at) first_new_step = *restarted_at + 1;
  return std::make_unique<app::CsvHistory>(
      dir + "/thermo.csv",
      std::vector<std::string>{"step", "temperature", "pair_energy", "total_energy", "pressure", "momentum"},
      first_new_step);
}

/// \param step  whose file it is
app::XdmfSnapshot frame(std::int64_t step, const Settings& settings) {
  app::XdmfSnapshot snapshot{.time = static_cast<double>(step) * settings.engine.dt, .step = step};
  snapshot.file_name = fmt::format("{}_{:08}.h5", trajectory, step);
  return snapshot;
}

}  // namespace

std::string thermo_header() {
  return fmt::format("{:>10} {:>17} {:>17} {:>7} {:>17} {:>17}", "Step", "Temp", "E_pair", "E_mol", "TotEng",
                     "Press");
}

std::string thermo_line(const ThermoRow& row) {
  return fmt::format("{:>10} {:>17.12g} {:>17.12g} {:>7} {:>17.12g} {:>17.12g}", row.step, row.temperature,
                     row.pair_energy, 0, row.total_energy, row.pressure);
}

RunFiles::RunFiles(MPI_Comm comm, const Settings& settings, std::optional<std::int64_t> restarted_at)
    : comm_(comm),
      dir_(app::make_output_directory(comm, settings.standard.out_dir)),
      settings_(settings),
      thermo_(open_thermo(comm, dir_, restarted_at)) {
  if (!thermo_ || !restarted_at) return;
  for (const std::int64_t step : app::earlier_steps(dir_, trajectory, *restarted_at + 1))
    frames_.push_back(frame(step, settings_));
}

void RunFiles::append(const ThermoRow& row) {
  if (!thermo_) return;
  const std::array<double, 5> values{row.temperature, row.pair_energy, row.total_energy, row.pressure,
                                     row.momentum};
  thermo_->append(row.step, values);
}

void RunFiles::write_trajectory(const std::shared_ptr<const State>& state) {
  frames_.push_back(frame(state->step, settings_));
  const std::int64_t atoms =
      write_h5md(comm_, fmt::format("{}/{}", dir_, frames_.back().file_name), state, frames_.back().time, {});
  const std::string path = fmt::format("{}/{}.xdmf", dir_, trajectory);
  together(
      comm_, "writing " + path,
      [&] {
        if (thermo_) replace_file(path, app::xdmf_text(trajectory, h5md_cloud(atoms), frames_));
      },
      io_timeout_ms());
}

void RunFiles::write_restart(const std::shared_ptr<const State>& state) const {
  app::Attributes attributes = describe(settings_);
  if (settings_.engine.nose_hoover) {
    attributes[friction_name] = state->nose_hoover[0];
    attributes[position_name] = state->nose_hoover[1];
  }
  write_h5md(comm_, fmt::format("{}/restart_{:08}.h5", dir_, state->step), state,
             static_cast<double>(state->step) * settings_.engine.dt, attributes);
}

State read_restart(const std::string& path, const Settings& settings) {
  const app::Hdf5Reader file(path);
  require_same_lists(file, path, settings.engine);
  file.require(describe(settings));
  for (const char* array : {"velocity", "image", "id"}) {
    const std::string name = fmt::format("particles/all/{}/value", array);
    if (!file.has_array(name))
      throw Error(ErrorKind::input,
                  fmt::format("{} has no array '{}', which a run needs to go on", path, name));
  }
  State state = read_h5md(path).state;
  check_state(state, path.c_str());
  if (settings.engine.nose_hoover) {
    state.nose_hoover = {file.real(friction_name), file.real(position_name)};
  }
  if (state.step < 0 || state.step > settings.standard.steps) {
    throw Error(ErrorKind::input, fmt::format("{} is after step {}, and this run ends at run.steps = {}",
                                              path, state.step, settings.standard.steps));
  }
  return state;
}

}  // namespace selvage::md
