#include "md/cli/app.hpp"

#include "common/report.hpp"
#include "md/cli/settings.hpp"
#include "md/simulation.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/version.hpp>

#include <memory>
#include <string>

namespace selvage::md {

const app::AppInfo& app_info() {
  static const app::AppInfo info{.name = "md",
                                 .summary = "Molecular dynamics of Lennard-Jones atoms in a periodic box",
                                 .version = std::string(selvage::version),
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
  return info;
}

void run(app::Session& session) {
  app::Report report(session);
  Settings settings;
  session.setup([&] { settings = read_settings(session.input()); });
  std::unique_ptr<Context> context;
  session.setup([&] { context = std::make_unique<Context>(session.comm()); });
  Start start;
  session.setup([&] { start = make_start(settings); });
  std::unique_ptr<Simulation> simulation;
  session.setup([&] { simulation = make_simulation(session, report, settings, *context, start); });
  start = {};
  if (session.command_line().check) return;
  simulation->run();
}

}  // namespace selvage::md
