#include "step_trial.hpp"

#include "common/breakdown.hpp"
#include "common/rank_sums.hpp"
#include "sgd/random.hpp"
#include "sgd/step_seconds.hpp"
#include "sgd/trainer.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace selvage::bench {
namespace {

constexpr int batches = 10;
constexpr int steps_per_batch = 10;
constexpr int warm_up_steps = 10;
constexpr int traced_steps = 5;
/// What one report may cover: all steps of a trial.
constexpr std::int64_t reported_steps = 1024;

/// Every sample's label is which of its first features, ten or as many as there are classes, is the largest.
sgd::Samples made_up_samples(const StepCase& given, std::int64_t count, std::uint64_t stream) {
  sgd::Random random(1, stream);
  sgd::Samples samples;
  samples.features.resize(static_cast<std::size_t>(count * given.features));
  for (float& feature : samples.features) feature = 2 * random.uniform() - 1;
  const int candidates = std::min({10, given.classes, given.features});
  for (std::int64_t sample = 0; sample < count; ++sample) {
    const auto first = samples.features.begin() + sample * given.features;
    samples.labels.push_back(static_cast<int>(std::max_element(first, first + candidates) - first));
  }
  return samples;
}

std::shared_ptr<const sgd::SampleSource> made_up_data(const StepCase& given, std::int64_t batch) {
  return std::make_shared<sgd::SamplesInMemory>(given.features, given.classes,
                                                made_up_samples(given, batch * given.steps_per_epoch, 0),
                                                made_up_samples(given, 1, 1));
}

sgd::Settings settings_for(const StepCase& given, std::int64_t batch) {
  sgd::Settings settings = given.settings;
  settings.batch = batch;
  settings.resident_bytes = std::numeric_limits<std::int64_t>::max();
  settings.report_every = reported_steps;
  return settings;
}

/// Training on all ranks of a context.
struct Training {
  Training(const Context& context, const StepCase& given, bool measures)
      : comm(context.comm()),
        breakdown("bench", measures),
        trainer(space, settings_for(given, given.batch_of_rank * context.size()), context,
                made_up_data(given, given.batch_of_rank * context.size()), breakdown) {}

  void run(int steps) {
    for (int step = 0; step < steps; ++step) trainer.step();
  }
  /// Seconds of a step, of the slowest rank, by batch of steps.
  std::vector<double> time() {
    run(warm_up_steps);
    std::vector<double> seconds;
    for (int batch = 0; batch < batches; ++batch)
      seconds.push_back(sgd::seconds_of_steps(comm, space, trainer, steps_per_batch));
    static_cast<void>(trainer.report());
    return seconds;
  }

  MPI_Comm comm;
  sgd::Space space = sgd::make_instance();
  app::Breakdown breakdown;
  sgd::Trainer trainer;
};

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Half the range that holds 95 % of a normal distribution.
double uncertainty(const std::vector<double>& values) {
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return 1.96 * std::sqrt(squares / static_cast<double>(values.size()));
}

double mean_loss(const std::vector<sgd::Trainer::Step>& steps) {
  double sum = 0;
  for (const auto& step : steps) sum += step.loss;
  return sum / static_cast<double>(steps.size());
}

using Parameters = Kokkos::View<float*, Kokkos::LayoutRight, Kokkos::HostSpace>;

Parameters copied_parameters(const Training& training) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), training.trainer.model().parameters());
}

void require_same_parameters(const Training& training) {
  const Parameters parameters = copied_parameters(training);
  const std::uint64_t hash = sgd::hash_bytes(parameters.data(), parameters.size() * sizeof(float));
  std::array<std::uint64_t, 2> bounds{hash, ~hash};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, bounds.data(), 2, MPI_UINT64_T, MPI_MIN, training.comm),
            "MPI_Allreduce of the parameters' hash");
  if (bounds[0] != ~bounds[1]) throw Error(ErrorKind::verification, "ranks end with different parameters");
}

/// Every tensor has moved: a layer without a gradient would go unnoticed by the loss.
void require_movement(const Training& training, const Parameters& before) {
  const Parameters after = copied_parameters(training);
  for (const sgd::Tensor& tensor : training.trainer.model().tensors()) {
    const float* first = before.data() + tensor.begin;
    if (std::equal(first, first + tensor.count, after.data() + tensor.begin))
      throw Error(ErrorKind::verification, fmt::format("{} stays as it was", tensor.name));
  }
}

void require_learning(Training& training) {
  const Parameters before("bench: first parameters", training.trainer.model().parameters().extent(0));
  Kokkos::deep_copy(before, training.trainer.model().parameters());
  training.run(warm_up_steps);
  const double first = mean_loss(training.trainer.report());
  training.run(4 * warm_up_steps);
  static_cast<void>(training.trainer.report());
  training.run(warm_up_steps);
  const double last = mean_loss(training.trainer.report());
  if (!(last < first))
    throw Error(ErrorKind::verification, fmt::format("the loss goes from {} to {}", first, last));
  require_movement(training, before);
  require_same_parameters(training);
}

/// How buckets travel, by the events of steps that aren't captured.
struct Trace {
  double communication_s = 0;  ///< of a step
  double hidden_s = 0;         ///< of these, while backward still computed
  std::set<std::string_view> algorithms;
  std::size_t buckets = 0;
};

Trace trace(const Context& context, StepCase given) {
  given.settings.graph = false;
  Training training(context, given, false);
  training.run(2);
  Trace trace;
  for (int step = 0; step < traced_steps; ++step) {
    training.run(1);
    const auto reports = training.trainer.buckets();
    trace.buckets = reports.size();
    for (const BucketReport& bucket : reports) {
      trace.communication_s += bucket.seconds / traced_steps;
      trace.hidden_s += bucket.hidden / traced_steps;
      trace.algorithms.insert(to_string(bucket.algorithm));
    }
  }
  static_cast<void>(training.trainer.report());
  return trace;
}

/// Of a rank alone, with phases fenced.
double backward_seconds(const Context& alone, StepCase given) {
  given.settings.graph = false;
  Training training(alone, given, true);
  const auto phase = training.breakdown.phase("backward");
  training.run(2);
  const double before = training.breakdown.seconds(phase);
  training.run(traced_steps);
  return (training.breakdown.seconds(phase) - before) / traced_steps;
}

struct Timed {
  std::vector<double> seconds;  ///< of a step, by batch
  std::size_t graph_nodes = 0;  ///< 0 where steps aren't captured
};

Timed time_verified(const Context& context, const StepCase& given) {
  Training training(context, given, false);
  require_learning(training);
  Timed timed;
  timed.seconds = training.time();
  timed.graph_nodes = training.trainer.graph_nodes();
  require_same_parameters(training);
  return timed;
}

void describe(Record& record, const StepCase& given, const Timed& timed, int ranks) {
  std::vector<double> rates;
  for (const double step_s : timed.seconds)
    rates.push_back(static_cast<double>(given.batch_of_rank * ranks) / step_s);
  record.name = fmt::format("sgd/{}/{}{}", given.model, ranks, sgd::on_host ? "rank" : "gpu");
  record.value = mean(timed.seconds) * 1e6;
  record.unit = "us/step";
  record.choice = timed.graph_nodes > 0 ? fmt::format("a graph of {} nodes per step", timed.graph_nodes)
                                        : "steps enqueued";
  record.peers["samples/s"] = mean(rates);
  record.peers["samples/s +-"] = uncertainty(rates);
  record.verified = true;
  record.repetitions = batches;
  record.spread = (std::ranges::max(timed.seconds) - std::ranges::min(timed.seconds)) / mean(timed.seconds);
}

/// What communication costs. Collective over the context's communicator.
void add_communication(Record& record, const Context& context, const Context& alone, const StepCase& given) {
  const Trace traced = trace(context, given);
  record.choice += fmt::format(", {} bucket{}: {}", traced.buckets, traced.buckets == 1 ? "" : "s",
                               fmt::join(traced.algorithms, ", "));
  record.peers["communication, us"] = traced.communication_s * 1e6;
  record.peers["hidden, %"] = 100 * traced.hidden_s / traced.communication_s;
  for (const int multiprocessors : given.other_multiprocessors) {
    StepCase other = given;
    other.settings.multiprocessors = multiprocessors;
    record.peers[fmt::format("{} multiprocessors, us", multiprocessors)] =
        mean(Training(context, other, false).time()) * 1e6;
  }
  if (given.settings.timed_products) {
    StepCase other = given;
    other.settings.timed_products = false;
    record.peers["fixed products, us"] = mean(Training(context, other, false).time()) * 1e6;
  }
  StepCase sharded = given;
  sharded.settings.sharded = true;
  record.peers["sharded, us"] = mean(Training(context, sharded, false).time()) * 1e6;
  const double own_s = mean(Training(alone, given, false).time());
  const double alone_s = app::max_over_ranks(context.comm(), "a lone step's time", own_s);
  record.peers["alone, us"] = alone_s * 1e6;
  record.peers["scaling, %"] = 100 * alone_s * 1e6 / record.value;
}

}  // namespace

Record time_steps(const Context& context, const StepCase& given) {
  const Context alone(sgd::Space(), MPI_COMM_SELF);
  Record record;
  describe(record, given, time_verified(context, given), context.size());
  record.peers["backward, us"] = backward_seconds(alone, given) * 1e6;
  if (context.size() > 1) add_communication(record, context, alone, given);
  return record;
}

}  // namespace selvage::bench
