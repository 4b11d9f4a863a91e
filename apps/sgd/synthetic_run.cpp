#include "sgd/synthetic_run.hpp"

#include "common/output.hpp"
#include "common/rank_sums.hpp"
#include "sgd/model/resnet50.hpp"
#include "sgd/synthetic.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>

namespace selvage::sgd {
namespace {

constexpr std::int64_t default_steps = 100;

void verify(const Synthetic& model, std::int64_t step, const char* name, app::Session& session,
            app::Report& report) {
  const std::array own{model.count_wrong(step)};
  const std::int64_t wrong = app::sum_counts(session.comm(), "the count of wrong sums", own).front();
  report.verify(name, wrong == 0,
                fmt::format("{} of {} sums are wrong on all ranks together", wrong, model.parameters()));
}

void report_buckets(const Synthetic& model, app::Report& report) {
  std::int64_t number = 0;
  for (const GradientBuckets::Report& bucket : model.gradients().report()) {
    report.result(fmt::format("bucket_{}_bytes", number), bucket.bytes);
    report.result(fmt::format("bucket_{}_algorithm", number++), std::string(to_string(bucket.algorithm)));
  }
}

}  // namespace

void run_synthetic(const Space& space, app::Session& session, app::Report& report, const Settings& settings,
                   const Context& context) {
  std::unique_ptr<Synthetic> model;
  session.setup([&] { model = std::make_unique<Synthetic>(space, context, settings, resnet50_tensors()); });
  report.decide(fmt::format("{} tensors of ResNet-50 with {} parameters, without arithmetic",
                            model->tensors().size(), model->parameters()));
  if (session.command_line().check) return;
  const std::int64_t steps = settings.stop_step.value_or(default_steps);
  app::make_output_directory(session.comm(), settings.standard.out_dir);
  // Buckets are made in the first step.
  model->step(0);
  verify(*model, 0, "first sums", session, report);
  const Kokkos::Timer timer;
  for (std::int64_t step = 1; step <= steps; ++step) model->step(step);
  space.fence("sgd: end of the steps");
  const double seconds = timer.seconds();
  verify(*model, steps, "last sums", session, report);
  report.result("steps", steps);
  report.result("seconds", seconds);
  report.decide(model->gradients().explain_buckets());
  report_buckets(*model, report);
  const double gigabytes =
      static_cast<double>(model->parameters()) * sizeof(float) * static_cast<double>(steps) * 1e-9;
  report.figure_of_merit(steps > 0 ? gigabytes / seconds : 0, "GB/s of gradients");
  report.finish(settings.standard.out_dir);
}

}  // namespace selvage::sgd
