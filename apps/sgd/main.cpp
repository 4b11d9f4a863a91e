#include "common/report.hpp"
#include "common/session.hpp"
#include "sgd/settings.hpp"
#include "sgd/space.hpp"
#include "sgd/synthetic_run.hpp"
#include "sgd/training.hpp"

#include <selvage/comm/context.hpp>

#include <memory>

namespace {

using namespace selvage;

const app::AppInfo info{
    .name = "sgd",
    .summary = "Data-parallel training of perceptrons and convolutions",
    .version = SELVAGE_VERSION,
    .flags = {
        {.name = "--data",
         .key = "data.path",
         .value_name = "FILE",
         .help = "labelled samples in HDF5, as of scripts/make-digits.py, or synthetic:resnet50"},
        {.name = "--reduce",
         .key = "comm.reduce",
         .value_name = "HOW",
         .help = "whether sums are the same on any number of ranks",
         .choices = {"ordered", "fast"}},
    }};

void run_sgd(app::Session& session) {
  app::Report report(session);
  if (session.command_line().env) {
    report.print_environment();
    return;
  }
  sgd::Settings settings;
  session.setup([&] { settings = sgd::read_settings(session.input()); });
  const sgd::Space space = sgd::make_instance();
  std::unique_ptr<Context> context;
  session.setup([&] { context = std::make_unique<Context>(space, session.comm()); });
  if (settings.is_synthetic()) return sgd::run_synthetic(space, session, report, settings, *context);
  std::unique_ptr<sgd::Training> training;
  session.setup(
      [&] { training = std::make_unique<sgd::Training>(space, session, report, settings, *context); });
  if (session.command_line().check) return;
  training->run();
}

}  // namespace

int main(int argc, char** argv) {
  return app::run_app(argc, argv, info, run_sgd);
}
