#pragma once

#include "common/breakdown.hpp"
#include "sgd/cli/settings.hpp"
#include "sgd/io/batches.hpp"
#include "sgd/io/data_set.hpp"
#include "sgd/model/model.hpp"
#include "sgd/model/schedule.hpp"
#include "sgd/model/update.hpp"
#include "sgd/model/velocities.hpp"
#include "sgd/step_figures.hpp"
#include "sgd/step_graph.hpp"
#include "sgd/sums/bucket_histogram.hpp"
#include "sgd/sums/gradient_pieces.hpp"
#include "sgd/sums/gradient_sum.hpp"

#include <selvage/comm/context.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace selvage::sgd {

/// Data-parallel training: every rank has the model, and computes its grains of each batch.
class Trainer {
 public:
  /// With first weights drawn by the seed. Collective.
  /// \param space  an instance of make_instance()
  /// \throws Error{input} for a batch that gives a rank nothing, or that is larger than the data; for samples that can't be read
  Trainer(const Space& space, const Settings& settings, const Context& context,
          std::shared_ptr<const SampleSource> source, app::Breakdown& breakdown);
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// A whole batch's figures, the same on all ranks.
  struct Step {
    double loss;      ///< mean over the batch's samples, before the weights moved
    double accuracy;  ///< share of the batch's samples that were recognised
  };
  /// One step of momentum SGD. On GPUs it is enqueued only; from the third on it replays a graph, where the settings
  /// want one and buckets need no host. Collective; report() must have come before more steps than it keeps.
  void step();
  /// The steps since the last report, in order. Waits until they are done. Collective.
  /// \throws AgreedError{numeric} that names the first step and layer where something can't be used; Error{timeout} that
  /// names a late rank
  std::vector<Step> report();
  /// Whether report() must come before the next step.
  [[nodiscard]] bool is_full() const { return steps_done_ - steps_reported_ >= settings_.report_every; }

  /// Of all test samples. Collective. \throws AgreedError{numeric}
  [[nodiscard]] Step test();

  [[nodiscard]] std::int64_t steps_done() const { return steps_done_; }
  [[nodiscard]] std::int64_t steps_per_epoch() const { return batches_.steps_per_epoch(); }
  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  [[nodiscard]] const Model& model() const { return model_; }
  [[nodiscard]] const DataFacts& data() const { return data_; }
  /// Where the samples are, and how much memory that takes.
  [[nodiscard]] std::string explain_data() const { return batches_.explain(); }
  /// Of all parameters. Collective; waits for the steps so far.
  [[nodiscard]] std::vector<float> momentum() const;
  /// That this rank keeps, in the space's memory.
  [[nodiscard]] std::int64_t momentum_bytes() const { return velocities_.bytes(); }
  /// How the last layer's gradients travel in tiles; empty without them.
  [[nodiscard]] std::string explain_tiles() const { return gradients_.explain_tiles(); }
  /// How sums travel; empty before the first step.
  [[nodiscard]] std::string explain_sums() const { return gradients_.explain_buckets(); }
  [[nodiscard]] std::vector<GradientBuckets::Report> buckets() const { return gradients_.report(); }
  /// Of the steps so far; without a breakdown, of one step, and without times.
  [[nodiscard]] BucketHistogram bucket_sizes() const;
  [[nodiscard]] bool is_captured() const { return static_cast<bool>(graph_.replay); }
  /// Of a step's graph; 0 without.
  [[nodiscard]] std::size_t graph_nodes() const { return graph_.nodes; }
  /// Seconds in which buckets were under way while backward still computed, so far; 0 without a breakdown.
  [[nodiscard]] double hidden_s() const { return hidden_s_; }

  /// Goes on after `steps_done` steps with these values, by parameter.
  void resume(std::int64_t steps_done, const std::vector<float>& parameters,
              const std::vector<float>& momentum);

  /// The parts of a step, for who measures them: what they need must have run before, as in step().
  void forward(const std::vector<SampleRange>& ranges, const StepFigures& figures);
  void backward();
  [[nodiscard]] const std::vector<SampleRange>& ranges() const { return local_; }
  [[nodiscard]] const StepFigures& figures() const { return figures_; }

 private:
  void enqueue_step();
  [[nodiscard]] GradientSum::Plan plan_sums();
  void compute_gradients(int layer);
  void compute_gradients_in_tiles(int layer);
  void make_ready(const GradientPieces::OfLayer& pieces);
  /// Of parameters [begin, begin + count), whose sums are there.
  [[nodiscard]] Optimizer optimizer(const Space& instance, std::int64_t begin, std::int64_t count);
  void update(const Space& instance, std::int64_t begin, std::int64_t count);
  /// Of parameters [begin, end), unless the sums have done it.
  void update_range(std::int64_t begin, std::int64_t end);
  void finish_sums();
  void require_usable(std::int64_t step, const std::int64_t* sums, const std::int64_t* own) const;

  Settings settings_;
  Context context_;
  std::shared_ptr<const SampleSource> source_;
  DataFacts data_;
  app::Breakdown& breakdown_;
  app::Breakdown::Phase load_phase_;
  app::Breakdown::Phase forward_phase_;
  app::Breakdown::Phase backward_phase_;
  app::Breakdown::Phase wait_phase_;
  app::Breakdown::Phase update_phase_;
  Space space_;
  std::vector<SampleRange> grains_;  ///< of the batch: this rank's
  std::vector<SampleRange> local_;   ///< the same, by place on this rank; one if sums may be fast
  Model model_;
  Vector<int> labels_;
  Velocities velocities_;
  GradientPieces pieces_;
  GradientSum gradients_;
  Schedule schedule_;
  Batches batches_;
  std::vector<SampleRange> test_grains_;  ///< this rank's
  PlacedSamples test_samples_;            ///< of these
  StepFigures figures_;
  StepFigures test_figures_;
  StepGraph graph_;
  std::int64_t steps_enqueued_ = 0;  ///< by this process, not captured
  std::int64_t steps_done_ = 0;
  std::int64_t steps_reported_ = 0;
  double hidden_s_ = 0;
  BucketHistogram bucket_sizes_;  ///< with a breakdown
};

}  // namespace selvage::sgd
