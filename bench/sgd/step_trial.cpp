#include "step_trial.hpp"

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
#include <memory>
#include <utility>
#include <vector>

namespace selvage::bench {
namespace {

constexpr int steps_per_batch = 10;
constexpr int learning_steps = 10;

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

sgd::Settings settings_for(const StepCase& given, const Context& context) {
  sgd::Settings settings = given.settings;
  settings.batch = given.batch_of_rank * context.size();
  return settings;
}

std::shared_ptr<const sgd::SampleSource> made_up_data(const StepCase& given, const Context& context) {
  const std::int64_t batch = given.batch_of_rank * context.size();
  return std::make_shared<sgd::SamplesInMemory>(given.features, given.classes,
                                                made_up_samples(given, batch * given.steps_per_epoch, 0),
                                                made_up_samples(given, 1, 1));
}

sgd::TimedTraining training_of(const Context& context, const StepCase& given) {
  return {context, settings_for(given, context), made_up_data(given, context)};
}

double mean_loss(const std::vector<sgd::Trainer::Step>& steps) {
  double sum = 0;
  for (const auto& step : steps) sum += step.loss;
  return sum / static_cast<double>(steps.size());
}

using Parameters = Kokkos::View<float*, Kokkos::LayoutRight, Kokkos::HostSpace>;

Parameters copied_parameters(const sgd::TimedTraining& training) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), training.trainer().model().parameters());
}

void require_same_parameters(MPI_Comm comm, const sgd::TimedTraining& training) {
  const Parameters parameters = copied_parameters(training);
  const std::uint64_t hash = sgd::hash_bytes(parameters.data(), parameters.size() * sizeof(float));
  std::array<std::uint64_t, 2> bounds{hash, ~hash};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, bounds.data(), 2, MPI_UINT64_T, MPI_MIN, comm),
            "MPI_Allreduce of the parameters' hash");
  if (bounds[0] != ~bounds[1]) throw Error(ErrorKind::verification, "ranks end with different parameters");
}

/// Every tensor has moved: a layer without a gradient would go unnoticed by the loss.
void require_movement(const sgd::TimedTraining& training, const Parameters& before) {
  const Parameters after = copied_parameters(training);
  for (const sgd::Tensor& tensor : training.trainer().model().tensors()) {
    const float* first = before.data() + tensor.begin;
    if (std::equal(first, first + tensor.count, after.data() + tensor.begin))
      throw Error(ErrorKind::verification, fmt::format("{} stays as it was", tensor.name));
  }
}

void require_learning(MPI_Comm comm, sgd::TimedTraining& training) {
  const Parameters before("bench: first parameters", training.trainer().model().parameters().extent(0));
  Kokkos::deep_copy(before, training.trainer().model().parameters());
  training.run(learning_steps);
  const double first = mean_loss(training.trainer().report());
  training.run(4 * learning_steps);
  static_cast<void>(training.trainer().report());
  training.run(learning_steps);
  const double last = mean_loss(training.trainer().report());
  if (!(last < first))
    throw Error(ErrorKind::verification, fmt::format("the loss goes from {} to {}", first, last));
  require_movement(training, before);
  require_same_parameters(comm, training);
}

struct Timed {
  std::vector<double> seconds;  ///< of a step, by batch
  std::size_t graph_nodes = 0;  ///< 0 where steps aren't captured
};

Timed time_verified(const Context& context, const StepCase& given) {
  sgd::TimedTraining training = training_of(context, given);
  require_learning(context.comm(), training);
  Timed timed;
  timed.seconds = training.time(steps_per_batch);
  timed.graph_nodes = training.trainer().graph_nodes();
  require_same_parameters(context.comm(), training);
  return timed;
}

void describe(Record& record, const StepCase& given, const Timed& timed, int ranks) {
  std::vector<double> rates;
  for (const double step_s : timed.seconds)
    rates.push_back(static_cast<double>(given.batch_of_rank * ranks) / step_s);
  record.name = fmt::format("sgd/{}/{}{}", given.model, ranks, sgd::on_host ? "rank" : "gpu");
  record.value = sgd::mean(timed.seconds) * 1e6;
  record.unit = "us/step";
  record.choice = timed.graph_nodes > 0 ? fmt::format("a graph of {} nodes per step", timed.graph_nodes)
                                        : "steps enqueued";
  record.peers["samples/s"] = sgd::mean(rates);
  record.peers["samples/s +-"] = sgd::uncertainty(rates);
  record.verified = true;
  record.repetitions = sgd::TimedTraining::batches;
  record.spread =
      (std::ranges::max(timed.seconds) - std::ranges::min(timed.seconds)) / sgd::mean(timed.seconds);
}

double mean_step_s(const Context& context, const StepCase& given) {
  return sgd::mean(training_of(context, given).time(steps_per_batch));
}

/// What communication costs. Collective over the context's communicator.
void add_communication(Record& record, const Context& context, const Context& alone, const StepCase& given) {
  const sgd::Communication traced =
      sgd::trace_communication(context, settings_for(given, context), made_up_data(given, context));
  record.choice += fmt::format(", {} bucket{}: {}", traced.buckets, traced.buckets == 1 ? "" : "s",
                               fmt::join(traced.algorithms, ", "));
  record.peers["communication, us"] = traced.seconds * 1e6;
  record.peers["hidden, %"] = 100 * traced.hidden_s / traced.seconds;
  for (const int multiprocessors : given.other_multiprocessors) {
    StepCase other = given;
    other.settings.multiprocessors = multiprocessors;
    record.peers[fmt::format("{} multiprocessors, us", multiprocessors)] = mean_step_s(context, other) * 1e6;
  }
  if (given.settings.timed_products) {
    StepCase other = given;
    other.settings.timed_products = false;
    record.peers["fixed products, us"] = mean_step_s(context, other) * 1e6;
  }
  StepCase sharded = given;
  sharded.settings.sharded = true;
  record.peers["sharded, us"] = mean_step_s(context, sharded) * 1e6;
  const double own_s = mean_step_s(alone, given);
  const double alone_s = app::max_over_ranks(context.comm(), "a lone step's time", own_s);
  record.peers["alone, us"] = alone_s * 1e6;
  record.peers["scaling, %"] = 100 * alone_s * 1e6 / record.value;
}

}  // namespace

Record time_steps(const Context& context, const StepCase& given) {
  const Context alone(sgd::Space(), MPI_COMM_SELF);
  Record record;
  describe(record, given, time_verified(context, given), context.size());
  record.peers["backward, us"] =
      sgd::backward_seconds(alone, settings_for(given, alone), made_up_data(given, alone)) * 1e6;
  if (context.size() > 1) add_communication(record, context, alone, given);
  return record;
}

}  // namespace selvage::bench
