#pragma once

#include "common/breakdown.hpp"
#include "sgd/cli/settings.hpp"
#include "sgd/trainer.hpp"

#include <selvage/comm/context.hpp>

#include <memory>
#include <set>
#include <string_view>
#include <vector>

namespace selvage::sgd {

/// A training that is timed, on samples that stay in memory. All members are collective over the context's communicator.
class TimedTraining {
 public:
  static constexpr int warm_up_steps = 10;
  static constexpr int batches = 10;  ///< of steps

  /// \param settings  looks at losses are no part of a step, and none is told about its samples
  /// \param measures  whether phases are fenced, and timed
  TimedTraining(const Context& context, Settings settings, std::shared_ptr<const SampleSource> source,
                bool measures = false);

  [[nodiscard]] Trainer& trainer() { return trainer_; }
  [[nodiscard]] const Trainer& trainer() const { return trainer_; }
  void run(int steps);
  /// Seconds of a step of the slowest rank, by batch of `steps` that are enqueued one after the other, after warm-up.
  [[nodiscard]] std::vector<double> time(int steps);
  /// Of a step's backward so far, with phases timed.
  [[nodiscard]] double backward_s() { return breakdown_.seconds(breakdown_.phase("backward")); }

 private:
  [[nodiscard]] double time_batch(int steps);

  MPI_Comm comm_;
  Space space_ = make_instance();
  app::Breakdown breakdown_;
  Trainer trainer_;
};

[[nodiscard]] double mean(const std::vector<double>& values);
/// Half the range that holds 95 % of a normal distribution: 1.96 standard deviations.
[[nodiscard]] double uncertainty(const std::vector<double>& values);

/// How a step's buckets travel, by the events of some steps that aren't captured.
struct Communication {
  double seconds = 0;   ///< of all buckets
  double hidden_s = 0;  ///< of these, while backward still computed
  std::set<std::string_view> algorithms = {};
  std::size_t buckets = 0;
};
/// Collective.
[[nodiscard]] Communication trace_communication(const Context& context, Settings settings,
                                                const std::shared_ptr<const SampleSource>& source);

/// Of a step's backward, with its phases fenced. \param alone  a context of one rank
[[nodiscard]] double backward_seconds(const Context& alone, Settings settings,
                                      const std::shared_ptr<const SampleSource>& source);

/// What steps take, and what of it is due to other ranks.
struct StepSeconds {
  std::vector<double> together;  ///< of all ranks, by batch of steps
  double alone;                  ///< of each rank by itself, with its own part of the batch
  double backward;               ///< of that
  Communication communication;   ///< nothing on one rank
  /// Of a step, what is due to other ranks.
  [[nodiscard]] double share_blocked() const;
};

/// Times trainings like the given one on samples of zeros, so that no other is touched. Takes the memory of such a
/// training while it lasts. Collective.
/// \param data  of the training's samples
[[nodiscard]] StepSeconds time_steps(const Context& context, const Settings& settings,
                                     const SampleSource::Shape& data);

}  // namespace selvage::sgd
