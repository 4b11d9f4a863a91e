#include "step_trial.hpp"

#include "sgd/model/random.hpp"
#include "sgd/step_seconds.hpp"
#include "sgd/trainer.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace selvage::bench {
namespace {

constexpr int steps_per_call = 10;
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

std::shared_ptr<sgd::TimedTraining> training_of(const Context& context, const StepCase& given) {
  return std::make_shared<sgd::TimedTraining>(context, settings_for(given, context),
                                              made_up_data(given, context));
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

/// One way to train, and what it is checked by.
class CheckedTraining {
 public:
  CheckedTraining(const Context& context, const StepCase& given)
      : comm_(context.comm()), training_(training_of(context, given)) {}

  void run() const { training_->run(steps_per_call); }
  /// Learning is seen at the start; later the same parameters.
  void check() {
    if (!has_learned_) require_learning(comm_, *training_);
    has_learned_ = true;
    run();
    static_cast<void>(training_->trainer().report());
    require_same_parameters(comm_, *training_);
  }

 private:
  MPI_Comm comm_;
  std::shared_ptr<sgd::TimedTraining> training_;
  bool has_learned_ = false;
};

void add(Figure& figure, const std::string& name, const Context& context, const StepCase& given) {
  const auto training = std::make_shared<CheckedTraining>(context, given);
  figure.contenders.push_back(
      {name, [training] { training->run(); }, [training] { training->check(); }, steps_per_call});
}

/// How a step's buckets travel, by the events of one that isn't captured: one in each round.
class TracedTraining {
 public:
  TracedTraining(const Context& context, StepCase given) {
    given.settings.graph = false;
    training_ = training_of(context, given);
    // Buckets are made, and products are timed, before.
    training_->run(2);
  }

  [[nodiscard]] std::map<std::string, double> step() const {
    training_->run(1);
    double seconds = 0;
    double hidden = 0;
    for (const GradientBuckets::Report& bucket : training_->trainer().buckets()) {
      seconds += bucket.seconds;
      hidden += bucket.hidden;
    }
    std::map<std::string, double> values{{"sums, us", seconds * 1e6}};
    // On hosts the caller's thread reduces: what lies behind backward in time isn't hidden.
    if (!sgd::on_host) values["sums hidden, %"] = 100 * hidden / seconds;
    return values;
  }
  [[nodiscard]] std::string describe() const {
    const auto buckets = training_->trainer().buckets();
    std::set<std::string_view> algorithms;
    for (const GradientBuckets::Report& bucket : buckets) algorithms.insert(to_string(bucket.algorithm));
    return fmt::format("{} bucket{}: {}", buckets.size(), buckets.size() == 1 ? "" : "s",
                       fmt::join(algorithms, ", "));
  }

 private:
  std::shared_ptr<sgd::TimedTraining> training_;
};

/// What communication costs, and other ways to have it.
void add_communication(Figure& figure, const Context& context, const StepCase& given) {
  const Context alone(sgd::Space(), MPI_COMM_SELF);
  add(figure, "alone", alone, given);
  for (const int multiprocessors : given.other_multiprocessors) {
    StepCase other = given;
    other.settings.multiprocessors = multiprocessors;
    add(figure, fmt::format("{} multiprocessors", multiprocessors), context, other);
  }
  StepCase sharded = given;
  sharded.settings.sharded = true;
  add(figure, "sharded", context, sharded);
}

}  // namespace

Figure step_figure(const Context& context, const StepCase& given) {
  Figure figure{.contenders = {}, .batch_seconds = 10e-3};
  // As the program does it without options.
  StepCase ordered = given;
  ordered.settings.ordered = true;
  ordered.settings.timed_products = false;
  add(figure, "ordered sums", context, ordered);
  add(figure, "fast sums", context, given);
  // As PyTorch runs without compiling or capturing.
  if (given.settings.graph) {
    StepCase eager = given;
    eager.settings.graph = false;
    add(figure, "enqueued step by step", context, eager);
  }
  if (given.settings.timed_products) {
    StepCase fixed = given;
    fixed.settings.timed_products = false;
    add(figure, "fixed products", context, fixed);
  }
  std::shared_ptr<TracedTraining> traced;
  if (context.size() > 1) {
    add_communication(figure, context, given);
    traced = std::make_shared<TracedTraining>(context, given);
    figure.label = traced->describe();
  }
  const double samples = static_cast<double>(given.batch_of_rank * context.size());
  figure.derive = [samples, traced](const Times& times) {
    std::map<std::string, double> values;
    if (traced) values = traced->step();
    values["samples/s"] = samples / times.at("fast sums");
    if (times.contains("alone")) values["scaling, %"] = 100 * times.at("alone") / times.at("fast sums");
    return values;
  };
  return figure;
}

}  // namespace selvage::bench
