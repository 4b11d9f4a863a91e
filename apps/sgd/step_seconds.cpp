#include "sgd/step_seconds.hpp"

#include "common/breakdown.hpp"
#include "common/rank_sums.hpp"

#include <limits>
#include <memory>

namespace selvage::sgd {
namespace {

/// Buckets are made, products are timed and the step is captured before.
constexpr int warm_up_steps = 4;

Samples zeros(std::int64_t count, int width) {
  return {std::vector<float>(static_cast<std::size_t>(count * width)),
          std::vector<int>(static_cast<std::size_t>(count))};
}

double seconds_of_training(const Context& context, const Settings& settings, const SampleSource::Shape& data,
                           int steps) {
  const Space space = make_instance();
  app::Breakdown breakdown("sgd: timed steps", false);
  const auto source = std::make_shared<SamplesInMemory>(
      data.width, data.classes, zeros(settings.batch, data.width), zeros(1, data.width));
  Trainer trainer(space, settings, context, source, breakdown);
  static_cast<void>(seconds_of_steps(context.comm(), space, trainer, warm_up_steps));
  return seconds_of_steps(context.comm(), space, trainer, steps);
}

}  // namespace

double seconds_of_steps(MPI_Comm comm, const Space& space, Trainer& trainer, int steps) {
  space.fence("sgd: before steps are timed");
  check_mpi(MPI_Barrier(comm), "MPI_Barrier before timed steps");
  const double start = MPI_Wtime();
  for (int step = 0; step < steps; ++step) {
    trainer.step();
    if (trainer.is_full()) static_cast<void>(trainer.report());
  }
  space.fence("sgd: end of the timed steps");
  return app::max_over_ranks(comm, "a step's time", (MPI_Wtime() - start) / steps);
}

StepSeconds time_steps(const Context& context, Settings settings, const SampleSource::Shape& data) {
  settings.resident_bytes = std::numeric_limits<std::int64_t>::max();
  // Looks at losses are no part of a step.
  settings.report_every = warm_up_steps + settings.timed_steps + 1;
  StepSeconds seconds{};
  seconds.together = seconds_of_training(context, settings, data, settings.timed_steps);
  settings.batch = span_of(grains_of_rank(settings.batch, settings.ordered ? settings.grain : 1,
                                          context.size(), context.rank()))
                       .size();
  const double own =
      seconds_of_training(Context(make_instance(), MPI_COMM_SELF), settings, data, settings.timed_steps);
  seconds.alone = app::max_over_ranks(context.comm(), "a lone step's time", own);
  return seconds;
}

}  // namespace selvage::sgd
