#include "jacobi/cli/app.hpp"

#include "common/report.hpp"
#include "jacobi/cli/settings.hpp"
#include "jacobi/simulation.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/version.hpp>

#include <memory>
#include <string>

namespace selvage::jacobi {

const app::AppInfo& app_info() {
  static const app::AppInfo info{
      .name = "jacobi",
      .summary = "Jacobi iteration of the Poisson equation on a 2D or 3D grid",
      .version = std::string(selvage::version),
      .flags = {
          {.name = "--overlap",
           .key = "run.overlap",
           .value_name = "MODE",
           .help = "what is swept while ghosts travel: nothing, the interior, or all from one kernel "
                   "that sends",
           .choices = {"auto", "off", "host", "kernel"}},
          {.name = "--steps-per-exchange",
           .key = "run.steps_per_exchange",
           .value_name = "N",
           .help = "sweeps from one exchange to the next, with halos as wide"},
          {.name = "--persistent",
           .key = "run.persistent",
           .value_name = "MODE",
           .help = "whether one GPU kernel makes all sweeps and sends its own boundary",
           .choices = {"off", "on", "auto"}},
          {.name = "--compare-serial",
           .key = "run.compare_serial",
           .help = "solve again on one rank without MPI and compare bit by bit"},
      }};
  return info;
}

void run(app::Session& session) {
  app::Report report(session);
  Settings settings;
  session.setup([&] { settings = read_settings(session.input()); });
  std::unique_ptr<Context> context;
  session.setup([&] { context = std::make_unique<Context>(session.comm()); });
  std::unique_ptr<Simulation> simulation;
  session.setup([&] { simulation = make_simulation(session, report, settings, *context); });
  if (session.command_line().check) return;
  simulation->run();
}

}  // namespace selvage::jacobi
