#include "common/report.hpp"
#include "common/session.hpp"
#include "md/settings.hpp"
#include "md/simulation.hpp"

#include <selvage/comm/context.hpp>

#include <memory>

namespace {

using namespace selvage;

const app::AppInfo info{.name = "md",
                        .summary = "Molecular dynamics of Lennard-Jones atoms in a periodic box",
                        .version = SELVAGE_VERSION,
                        .flags = {
                            {.name = "--precision",
                             .key = "run.precision",
                             .value_name = "TYPE",
                             .help = "what numbers are kept and computed in",
                             .choices = {"fp64", "mixed", "fp32"}},
                            {.name = "--state",
                             .key = "system.state",
                             .value_name = "FILE",
                             .help = "atoms to start from: H5MD (.h5) or a LAMMPS data file"},
                        }};

void run_md(app::Session& session) {
  app::Report report(session);
  if (session.command_line().env) {
    report.print_environment();
    return;
  }
  md::Settings settings;
  session.setup([&] { settings = md::read_settings(session.input()); });
  std::unique_ptr<Context> context;
  session.setup([&] { context = std::make_unique<Context>(session.comm()); });
  md::Start start;
  session.setup([&] { start = md::make_start(settings); });
  std::unique_ptr<md::Simulation> simulation;
  session.setup([&] { simulation = md::make_simulation(session, report, settings, *context, start); });
  start = {};
  if (session.command_line().check) return;
  simulation->run();
}

}  // namespace

int main(int argc, char** argv) {
  return app::run_app(argc, argv, info, run_md);
}
