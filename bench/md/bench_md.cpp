// The Lennard-Jones benchmark that LAMMPS ships (bench/in.lj: fcc, density 0.8442, T 1.44, cutoff 2.5, skin 0.3, lists made
// anew every 20 steps, NVE) in fp64: Matom-steps/s of 100 steps, all of a step counted. Before it is timed, the crystal's
// energy and step 100's temperature, energies and pressure must be LAMMPS's.
#include "../support/figure.hpp"
#include "../support/mpi_main.hpp"
#include "../support/trial.hpp"
#include "md/engine.hpp"
#include "md/ghosts/rank_ghosts.hpp"
#include "md/lattice.hpp"
#include "md/velocities.hpp"
#include "md/verification.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/error.hpp>

#include <Kokkos_Core.hpp>
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace selvage::bench {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

constexpr int rounds = 5;
constexpr std::int64_t steps = 100;
constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space::memory_space>::accessible;

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
  // As the program chooses for its backend.
  settings.engine.list = on_host ? md::ListKind::half : md::ListKind::full;
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

template <class Ghosts>
Record measured(const Context& context, const md::Settings& settings, const md::State& state, Ghosts ghosts) {
  const Space space;
  const std::int64_t atoms = atoms_of(settings.cells);
  app::Breakdown breakdown("bench", false);
  md::Engine<md::Fp64, Space, Ghosts> engine(space, state, settings.engine, std::move(ghosts), breakdown);
  const auto run = [&] {
    for (std::int64_t step = 1; step < steps; ++step) engine.advance(false, false);
    engine.advance(true, false);
    return engine.measure();
  };
  const md::ThermoRow first = engine.measure();
  require_known(settings, first, run());
  const Trial trial(context.comm(), {{"engine", [&] { benchmark::DoNotOptimize(run()); }}}, rounds);
  Record record;
  record.name = fmt::format("lj/fp64/{}/{}{}", atoms, context.size(), on_host ? "rank" : "gpu");
  record.unit = "Matom-steps/s";
  record.better = "higher";
  record.value = static_cast<double>(atoms) * static_cast<double>(steps) / trial.median("engine") * 1e-6;
  record.choice = fmt::format("{} list", to_string(settings.engine.list));
  record.verified = true;
  record.repetitions = rounds;
  record.spread = trial.spread("engine");
  return record;
}

Record melt_record(const Context& context, const Cells& cells) {
  const md::Settings settings = melt(cells);
  md::State state = md::fcc_crystal(settings.cells, settings.density);
  md::draw_velocities(state, *settings.temperature, settings.seed);
  const double width = settings.engine.list_cutoff();
  if (context.size() == 1) {
    return measured(context, settings, state, md::PeriodicImages<double, Space>(state.domain, width));
  }
  const md::Decomposition decomposition(state.domain, context.size(), context.rank());
  return measured(context, settings, share_of(state, context),
                  md::RankGhosts<double, Space>(Space(), context, decomposition, width));
}

}  // namespace
}  // namespace selvage::bench

int main(int argc, char** argv) {
  using namespace selvage;
  using namespace selvage::bench;
  return mpi_bench_main(argc, argv, [&](MPI_Comm comm, std::vector<Record>& records) {
    const Context context(comm);
    for (const Cells& cells : cases()) {
      register_figure(fmt::format("lj/fp64/{}", atoms_of(cells)), records, [=] {
        const Record record = melt_record(context, cells);
        return Figure{
            .seconds = 1 / record.value, .counters = {{"Matom-steps/s", record.value}}, .records = {record}};
      });
    }
  });
}
