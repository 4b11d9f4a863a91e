// The Lennard-Jones benchmark that LAMMPS ships (bench/in.lj: fcc, density 0.8442, T 1.44, cutoff 2.5, skin 0.3, lists made
// anew every 20 steps, NVE) in fp64: Matom-steps/s of 100 steps, all of a step counted. Before it is timed, the crystal's
// energy and step 100's temperature, energies and pressure must be LAMMPS's. Before and after, 100 more steps must end as those of
// another engine do, with the other kind of list, from the state that was left.
#include "../support/figure.hpp"
#include "../support/machine_facts.hpp"
#include "../support/mpi_main.hpp"
#include "../support/on_host.hpp"
#include "md/engine.hpp"
#include "md/ghosts/rank_ghosts.hpp"
#include "md/physics/lattice.hpp"
#include "md/physics/velocities.hpp"
#include "md/verify/verification.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/error.hpp>

#include <Kokkos_Core.hpp>
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace selvage::bench {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

constexpr int rounds = 5;
constexpr std::int64_t steps = 100;

using Cells = std::array<std::int64_t, 3>;

std::int64_t atoms_of(const Cells& cells) {
  return 4 * cells[0] * cells[1] * cells[2];
}

std::vector<Cells> cases() {
  if (on_host) return {{20, 20, 20}};
  return {{20, 20, 20}, {40, 40, 40}, {80, 80, 80}, {160, 160, 160}, {160, 160, 320}};
}

md::Settings melt(const Cells& cells) {
  md::Settings settings{};
  settings.cells = cells;
  settings.density = 0.8442;
  settings.temperature = 1.44;
  settings.seed = 87287;
  settings.precision = md::Precision::fp64;
  // As the program chooses.
  settings.engine.list = md::list_of_build;
  // As in.lj: every 20 steps, unchecked.
  settings.engine.checks_displacement = false;
  settings.engine.rebuild_every = 20;
  settings.engine.counts_dangerous = false;
  return settings;
}

/// Every size-th atom: whose they are is found out when lists are made.
md::State share_of(const md::State& all, const Context& context) {
  md::State own;
  own.domain = all.domain;
  for (std::size_t i = static_cast<std::size_t>(context.rank()); i < all.ids.size();
       i += static_cast<std::size_t>(context.size())) {
    own.ids.push_back(all.ids[i]);
    own.positions.push_back(all.positions[i]);
    own.velocities.push_back(all.velocities[i]);
    own.images.push_back(all.images[i]);
  }
  return own;
}

void require_known(const md::Settings& settings, const md::ThermoRow& first, const md::ThermoRow& last) {
  md::Verification verification(settings, atoms_of(settings.cells));
  verification.check(first);
  verification.check(last);
  for (const auto& outcome : verification.outcomes()) {
    if (!outcome.ok)
      throw Error(ErrorKind::verification, fmt::format("{}: {}", outcome.name, outcome.detail));
  }
}

md::EngineOptions with_other_list(md::EngineOptions options) {
  options.list = options.list == md::ListKind::full ? md::ListKind::half : md::ListKind::full;
  return options;
}

/// Sums over all atoms, which engines add up in unlike orders. Over so few steps trajectories don't part.
void require_same(const md::ThermoRow& row, const md::ThermoRow& other) {
  const auto require = [&](const char* what, double value, double expected) {
    if (!(std::abs(value - expected) <= 1e-6 * std::abs(expected))) {
      throw Error(ErrorKind::verification, fmt::format("step {}: {} is {}, and with another list {}",
                                                       row.step, what, value, expected));
    }
  };
  require("the temperature", row.temperature, other.temperature);
  require("the pairs' energy", row.pair_energy, other.pair_energy);
  require("the total energy", row.total_energy, other.total_energy);
  require("the pressure", row.pressure, other.pressure);
}

/// Runs of `steps` steps, one after the other.
/// \tparam MakeGhosts  gives the ghosts of one engine
template <class MakeGhosts>
class MeltTrial {
 public:
  MeltTrial(const md::Settings& settings, const md::State& state, MakeGhosts make_ghosts)
      : settings_(settings),
        make_ghosts_(std::move(make_ghosts)),
        breakdown_("bench", false),
        engine_(Space(), state, settings.engine, make_ghosts_(), breakdown_),
        first_(engine_.measure()) {}
  MeltTrial(const MeltTrial&) = delete;
  MeltTrial& operator=(const MeltTrial&) = delete;

  [[nodiscard]] Figure figure() {
    const double atom_steps = static_cast<double>(atoms_of(settings_.cells)) * static_cast<double>(steps);
    return {
        .contenders = {{"selvage", [this] { benchmark::DoNotOptimize(run(engine_)); }, [this] { check(); }}},
        .label = fmt::format("{} list", to_string(settings_.engine.list)),
        .derive = [atom_steps](const Times& times) {
          return std::map<std::string, double>{{"Matom-steps/s", atom_steps / times.at("selvage") * 1e-6}};
        }};
  }

 private:
  using Engine = md::Engine<md::Fp64, Space, std::invoke_result_t<MakeGhosts>>;

  static md::ThermoRow run(Engine& engine) {
    for (std::int64_t step = 1; step < steps; ++step) engine.advance(false, false);
    engine.advance(true, false);
    return engine.measure();
  }

  /// A run that starts where the last one, timed or not, has ended. The first ends with LAMMPS's figures; all conserve its energy.
  void check() {
    const md::State state = engine_.state();
    const md::ThermoRow row = run(engine_);
    {
      // Both make lists at the same steps, so that they miss the same pairs, if any.
      Engine other(Space(), state, with_other_list(settings_.engine), make_ghosts_(), breakdown_);
      require_same(row, run(other));
    }
    if (!is_known_) require_known(settings_, first_, row);
    is_known_ = true;
    const double drift = std::abs(row.total_energy / first_.total_energy - 1);
    if (!(drift < 1e-2))
      throw Error(ErrorKind::verification,
                  fmt::format("energy per atom goes from {} to {}", first_.total_energy, row.total_energy));
  }

  md::Settings settings_;
  MakeGhosts make_ghosts_;
  app::Breakdown breakdown_;
  Engine engine_;
  md::ThermoRow first_;
  bool is_known_ = false;
};

template <class MakeGhosts>
Figure figure_with(const md::Settings& settings, const md::State& state, MakeGhosts make_ghosts) {
  const auto trial = std::make_shared<MeltTrial<MakeGhosts>>(settings, state, std::move(make_ghosts));
  Figure figure = trial->figure();
  figure.keeps = trial;
  return figure;
}

Figure melt_figure(const Context& context, const Cells& cells) {
  const md::Settings settings = melt(cells);
  md::State state = md::fcc_crystal(settings.cells, settings.density);
  md::draw_velocities(state, *settings.temperature, settings.seed);
  const double width = settings.engine.list_cutoff();
  if (context.size() == 1)
    return figure_with(settings, state, [domain = state.domain, width] {
      return md::PeriodicImages<double, Space>(domain, width);
    });
  const md::Decomposition decomposition(state.domain, context.size(), context.rank());
  return figure_with(settings, share_of(state, context), [context, decomposition, width] {
    return md::RankGhosts<double, Space>(Space(), context, decomposition, width);
  });
}

}  // namespace
}  // namespace selvage::bench

int main(int argc, char** argv) {
  using namespace selvage;
  using namespace selvage::bench;
  return mpi_bench_main(argc, argv, [&](MPI_Comm comm) {
    const Context context(comm);
    for (const Cells& cells : cases()) {
      const std::string name = fmt::format("lj/fp64/{}/{}", atoms_of(cells), ranks_text(context.machine()));
      register_figure(name, comm, rounds, [=] { return melt_figure(context, cells); });
    }
  });
}
