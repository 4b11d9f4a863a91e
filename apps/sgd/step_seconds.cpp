#include "sgd/step_seconds.hpp"

#include "common/rank_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace selvage::sgd {
namespace {

constexpr int traced_steps = 5;
/// Buckets are made, and products are timed, before.
constexpr int steps_before_trace = 2;
/// Between looks at the losses: more than a batch of steps has as a rule.
constexpr std::int64_t reported_steps = 1024;

Settings for_timing(Settings settings) {
  settings.resident_bytes = std::numeric_limits<std::int64_t>::max();
  settings.report_every = reported_steps;
  return settings;
}

std::shared_ptr<const SampleSource> zeros(const Settings& settings, const SampleSource::Shape& data) {
  const auto samples = [&](std::int64_t count) {
    return Samples{std::vector<float>(static_cast<std::size_t>(count * data.width)),
                   std::vector<int>(static_cast<std::size_t>(count))};
  };
  return std::make_shared<SamplesInMemory>(data.width, data.classes, samples(settings.batch), samples(1));
}

}  // namespace

TimedTraining::TimedTraining(const Context& context, Settings settings,
                             std::shared_ptr<const SampleSource> source, bool measures)
    : comm_(context.comm()),
      breakdown_("sgd: timed steps", measures),
      trainer_(space_, for_timing(std::move(settings)), context, std::move(source), breakdown_) {}

void TimedTraining::run(int steps) {
  for (int step = 0; step < steps; ++step) {
    trainer_.step();
    if (trainer_.is_full()) static_cast<void>(trainer_.report());
  }
}

std::vector<double> TimedTraining::time(int steps) {
  run(warm_up_steps);
  std::vector<double> seconds;
  for (int batch = 0; batch < batches; ++batch) seconds.push_back(time_batch(steps));
  static_cast<void>(trainer_.report());
  return seconds;
}

double TimedTraining::time_batch(int steps) {
  space_.fence("sgd: before steps are timed");
  // Ranks begin together.
  static_cast<void>(app::max_over_ranks(comm_, "the start of timed steps", 0));
  const double start = MPI_Wtime();
  run(steps);
  space_.fence("sgd: end of the timed steps");
  return app::max_over_ranks(comm_, "a step's time", (MPI_Wtime() - start) / steps);
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double uncertainty(const std::vector<double>& values) {
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return 1.96 * std::sqrt(squares / static_cast<double>(values.size()));
}

Communication trace_communication(const Context& context, Settings settings,
                                  const std::shared_ptr<const SampleSource>& source) {
  settings.graph = false;
  TimedTraining training(context, std::move(settings), source);
  training.run(steps_before_trace);
  Communication trace;
  for (int step = 0; step < traced_steps; ++step) {
    training.run(1);
    const auto reports = training.trainer().buckets();
    trace.buckets = reports.size();
    for (const GradientBuckets::Report& bucket : reports) {
      trace.seconds += bucket.seconds / traced_steps;
      trace.hidden_s += bucket.hidden / traced_steps;
      trace.algorithms.insert(to_string(bucket.algorithm));
    }
  }
  static_cast<void>(training.trainer().report());
  return trace;
}

double backward_seconds(const Context& alone, Settings settings,
                        const std::shared_ptr<const SampleSource>& source) {
  settings.graph = false;
  TimedTraining training(alone, std::move(settings), source, true);
  training.run(steps_before_trace);
  const double before = training.backward_s();
  training.run(traced_steps);
  return (training.backward_s() - before) / traced_steps;
}

double StepSeconds::share_blocked() const {
  return std::max(0.0, 1 - alone / mean(together));
}

StepSeconds time_steps(const Context& context, const Settings& settings, const SampleSource::Shape& data) {
  StepSeconds seconds{};
  const auto all = zeros(settings, data);
  seconds.together = TimedTraining(context, settings, all).time(settings.timed_steps);
  if (context.size() > 1) seconds.communication = trace_communication(context, settings, all);
  const Context alone(make_instance(), MPI_COMM_SELF);
  Settings own = settings;
  own.batch = span_of(grains_of_rank(settings.batch, settings.ordered ? settings.grain : 1, context.size(),
                                     context.rank()))
                  .size();
  const auto part = zeros(own, data);
  const auto slowest = [&](double own_s) {
    return app::max_over_ranks(context.comm(), "a lone step's time", own_s);
  };
  seconds.alone = context.size() > 1
                      ? slowest(mean(TimedTraining(alone, own, part).time(settings.timed_steps)))
                      : mean(seconds.together);
  seconds.backward = slowest(backward_seconds(alone, own, part));
  return seconds;
}

}  // namespace selvage::sgd
