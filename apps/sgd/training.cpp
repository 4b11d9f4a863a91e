#include "sgd/training.hpp"

#include "common/progress.hpp"
#include "common/rank_sums.hpp"
#include "sgd/io/hdf5_samples.hpp"
#include "sgd/io/idx_file.hpp"
#include "sgd/step_seconds.hpp"

#include <selvage/counted.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <memory>
#include <system_error>

namespace selvage::sgd {

namespace {

std::shared_ptr<const SampleSource> open_samples(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return std::make_shared<IdxSamples>(path);
  return std::make_shared<Hdf5Samples>(path);
}

}  // namespace

Training::Training(const Space& space, app::Session& session, app::Report& report, const Settings& settings,
                   const Context& context)
    : session_(session),
      report_(report),
      settings_(settings),
      breakdown_("sgd", settings.breakdown),
      output_phase_(breakdown_.phase("output")),
      space_(space),
      context_(context),
      trainer_(space, settings, context, open_samples(settings.data_path), breakdown_),
      last_step_(std::min(settings.stop_step.value_or(std::numeric_limits<std::int64_t>::max()),
                          trainer_.schedule().steps)) {
  if (settings_.weights_path) begin_with_weights(trainer_, *settings_.weights_path);
  if (settings_.standard.restart_path) {
    resume(trainer_, *settings_.standard.restart_path, settings_);
    resumed_at_ = trainer_.steps_done();
  }
  describe_plan();
}

void Training::describe_plan() {
  const SampleSource::Shape& data = trainer_.data().shape;
  report_.decide(fmt::format("{} to train with and {} to test, {}, {}", counted(data.train, "sample"),
                             data.test, counted(data.width, "feature"),
                             counted(data.classes, "class", "classes")));
  report_.decide(trainer_.explain_data());
  if (settings_.weights_path) report_.decide("weights to begin with: " + *settings_.weights_path);
  report_.decide(fmt::format("{}, {}, {} of {}, {} an epoch", counted(trainer_.model().layers(), "layer"),
                             counted(trainer_.model().parameter_count(), "parameter"),
                             counted(last_step_, "step"), counted(settings_.batch, "sample"),
                             counted(trainer_.steps_per_epoch(), "step")));
  report_.decide(
      settings_.ordered
          ? fmt::format("ordered sums: grains of {}, 8 bytes per gradient on the wire",
                        counted(settings_.grain, "sample"))
          : fmt::format("fast sums: {} bytes per gradient on the wire", settings_.bf16_on_the_wire ? 2 : 4));
  describe_sums();
}

void Training::describe_sums() {
  if (settings_.sharded)
    report_.decide("sharded: each rank updates a part of each bucket, and has the momentum of that part");
  if (settings_.tiles) report_.decide(trainer_.explain_tiles());
}

void Training::run() {
  train_until_done();
  verify_replicas();
  report_results();
}

void Training::train_until_done() {
  RunFiles files(session_.comm(), settings_.standard.out_dir, resumed_at_);
  app::Progress progress(session_.talks() && app::standard_output_is_terminal(), trainer_.steps_done(),
                         last_step_);
  session_.say("{:>8} {:>12} {:>9} {:>12} {:>9}", "Step", "Loss", "Accuracy", "Test loss", "Accuracy");
  while (trainer_.steps_done() < last_step_) {
    Kokkos::Timer timer;
    trainer_.step();
    const std::int64_t step = trainer_.steps_done();
    const bool is_tested = step % trainer_.steps_per_epoch() == 0 || step == last_step_;
    const bool is_saved = settings_.checkpoint_every > 0 && step % settings_.checkpoint_every == 0;
    const bool is_reported = is_tested || is_saved || trainer_.is_full();
    const std::vector<Trainer::Step> steps = is_reported ? trainer_.report() : std::vector<Trainer::Step>();
    training_s_ += timer.seconds();
    write_steps(files, steps);
    if (is_tested) {
      test_ = trainer_.test();
      files.append_epoch(step, test_);
      progress.clear();
      session_.say("{:>8} {:>12.6g} {:>9.4f} {:>12.6g} {:>9.4f}", step, train_.loss, train_.accuracy,
                   test_.loss, test_.accuracy);
    }
    if (is_saved) {
      const auto timed = breakdown_.time(space_, output_phase_);
      files.write_checkpoint(trainer_, settings_);
    }
    if (is_reported) progress.update(step);
  }
  if (trainer_.steps_done() == resumed_at_.value_or(0)) test_ = trainer_.test();
  const auto timed = breakdown_.time(space_, output_phase_);
  files.write_weights(trainer_);
}

void Training::write_steps(RunFiles& files, const std::vector<Trainer::Step>& steps) {
  std::int64_t step = trainer_.steps_done() - static_cast<std::int64_t>(steps.size());
  for (const Trainer::Step& each : steps) {
    train_ = each;
    const double rate = trainer_.schedule().rate(step);
    files.append_step(++step, each, rate);
  }
}

void Training::verify_replicas() {
  const auto parameters =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), trainer_.model().parameters());
  const std::uint64_t hash = hash_bytes(parameters.data(), parameters.extent(0) * sizeof(float));
  // By halves, which are exact as real numbers.
  const std::array halves{static_cast<double>(hash >> 32), static_cast<double>(hash & 0xffffffffU)};
  const auto all = app::gather_everywhere(session_.comm(), "comparing the ranks' parameters", halves);
  std::size_t other = 0;
  while (other < all.size() && all[other] == all[other % 2]) ++other;
  report_.result("parameter_hash", fmt::format("{:016x}", hash));
  report_.verify("replicas", other == all.size(),
                 other == all.size()
                     ? fmt::format("parameters have the hash {:016x} on all ranks", hash)
                     : fmt::format("parameters of rank {} differ from those of rank 0", other / 2));
  if (settings_.standard.verify) {
    report_.verify("accuracy", test_.accuracy >= settings_.wanted_accuracy,
                   fmt::format("{:.4f} of the test samples, at least {} wanted", test_.accuracy,
                               settings_.wanted_accuracy));
  }
}

void Training::report_results() {
  const std::int64_t steps = trainer_.steps_done() - resumed_at_.value_or(0);
  report_.result("steps", trainer_.steps_done());
  report_.result("train_loss", train_.loss);
  report_.result("train_accuracy", train_.accuracy);
  report_.result("test_loss", test_.loss);
  report_.result("test_accuracy", test_.accuracy);
  report_.result("seconds", training_s_);
  report_.result("momentum_bytes_most", static_cast<std::int64_t>(app::max_over_ranks(
                                            session_.comm(), "the bytes of momentum",
                                            static_cast<double>(trainer_.momentum_bytes()))));
  if (steps > 0) report_communication();
  if (steps > 0 && settings_.timed_steps > 0) report_timed_steps();
  report_.breakdown(breakdown_);
  const double samples = static_cast<double>(steps) * static_cast<double>(settings_.batch);
  report_.figure_of_merit(steps > 0 ? samples / training_s_ : 0, "samples/s");
  report_.finish(settings_.standard.out_dir);
}

void Training::report_communication() {
  if (trainer_.is_captured() && trainer_.graph_nodes() > 0) {
    report_.decide(fmt::format("a step is a graph of {} nodes", trainer_.graph_nodes()));
    report_.result("graph_nodes", static_cast<std::int64_t>(trainer_.graph_nodes()));
  }
  if (context_.size() > 1) report_.decide(trainer_.explain_sums());
  if (breakdown_.measures()) {
    // Of a rank's own time: while one writes files, others wait.
    const double own = breakdown_.seconds(breakdown_.phase("wait")) / training_s_;
    report_.result("share_waited",
                   app::sum_over_ranks(session_.comm(), "the share waited", own) / session_.ranks());
    report_.result("hidden_s", trainer_.hidden_s());
  }
  std::int64_t number = 0;
  for (const GradientBuckets::Report& bucket : trainer_.buckets()) {
    report_.result(fmt::format("bucket_{}_bytes", number), bucket.bytes);
    report_.result(fmt::format("bucket_{}_algorithm", number++), std::string(to_string(bucket.algorithm)));
  }
  const BucketHistogram sizes = trainer_.bucket_sizes();
  for (const auto& [least, row] : sizes.rows()) {
    const std::string name = fmt::format("allreduces_of_{}_to_{}_bytes", least, 2 * least - 1);
    report_.result(name, row.count);
    if (row.seconds > 0) report_.result(name + "_GB_per_s", row.gigabytes_per_second());
  }
}

void Training::report_timed_steps() {
  const StepSeconds seconds = time_steps(context_, settings_, trainer_.data().shape);
  const double step_s = mean(seconds.together);
  std::vector<double> rates;
  for (const double each : seconds.together) rates.push_back(static_cast<double>(settings_.batch) / each);
  report_.result("samples_per_s", mean(rates));
  report_.result("samples_per_s_uncertainty", uncertainty(rates));
  report_.result("step_us", step_s * 1e6);
  report_.result("backward_us", seconds.backward * 1e6);
  session_.say("steps on samples of zeros: {:.6g} +- {:.2g} samples/s, backward {:.4g} us", mean(rates),
               uncertainty(rates), seconds.backward * 1e6);
  if (context_.size() == 1) return;
  const Communication& sums = seconds.communication;
  const double hidden_share = sums.seconds > 0 ? sums.hidden_s / sums.seconds : 0;
  report_.result("communication_us", sums.seconds * 1e6);
  report_.result("hidden_share", hidden_share);
  report_.result("step_alone_us", seconds.alone * 1e6);
  report_.result("share_blocked", seconds.share_blocked());
  report_.result("scaling_efficiency", seconds.alone / step_s);
  session_.say(
      "of a step of {:.4g} us, sums travel {:.4g} us, {:.1f} % of that hidden; scaling efficiency {:.1f} %",
      step_s * 1e6, sums.seconds * 1e6, 100 * hidden_share, 100 * seconds.alone / step_s);
}

}  // namespace selvage::sgd
