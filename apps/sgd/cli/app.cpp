#include "sgd/cli/app.hpp"

#include "common/report.hpp"
#include "sgd/cli/settings.hpp"
#include "sgd/model/space.hpp"
#include "sgd/synthetic_run.hpp"
#include "sgd/training.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/version.hpp>

#include <memory>
#include <string>

namespace selvage::sgd {

const app::AppInfo& app_info() {
  static const app::AppInfo info{
      .name = "sgd",
      .summary = "Data-parallel training of perceptrons and convolutions",
      .version = std::string(selvage::version),
      .flags = {
          {.name = "--data",
           .key = "data.path",
           .value_name = "FILE",
           .help = "labelled samples in HDF5, as of scripts/make-digits.py, or synthetic:resnet50"},
          {.name = "--weights",
           .key = "model.weights",
           .value_name = "FILE",
           .help = "the weights to begin with, as in the weights.h5 of a run"},
          {.name = "--reduce",
           .key = "comm.reduce",
           .value_name = "HOW",
           .help = "whether sums are the same on any number of ranks",
           .choices = {"ordered", "fast"}},
      }};
  return info;
}

void run(app::Session& session) {
  app::Report report(session);
  Settings settings;
  session.setup([&] { settings = read_settings(session.input()); });
  const Space space = make_instance();
  std::unique_ptr<Context> context;
  session.setup([&] { context = std::make_unique<Context>(space, session.comm()); });
  if (settings.is_synthetic()) return run_synthetic(space, session, report, settings, *context);
  std::unique_ptr<Training> training;
  session.setup([&] { training = std::make_unique<Training>(space, session, report, settings, *context); });
  if (session.command_line().check) return;
  training->run();
}

}  // namespace selvage::sgd
