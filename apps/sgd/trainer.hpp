#pragma once

#include "common/breakdown.hpp"
#include "sgd/data_set.hpp"
#include "sgd/gradient_sum.hpp"
#include "sgd/mlp.hpp"
#include "sgd/schedule.hpp"
#include "sgd/settings.hpp"

#include <selvage/comm/context.hpp>

#include <cstdint>
#include <vector>

namespace selvage::sgd {

/// Data-parallel training: every rank has the model and the data, and computes its grains of each batch.
class Trainer {
 public:
  /// With first weights drawn by the seed. Collective.
  /// \throws Error{input} for a batch that gives a rank nothing, or that is larger than the data
  Trainer(const Settings& settings, const Context& context, DataSet data, app::Breakdown& breakdown);

  /// A whole batch's figures, the same on all ranks.
  struct Step {
    double loss;      ///< mean over the batch's samples, before the weights moved
    double accuracy;  ///< share of the batch's samples that were recognised
  };
  /// One step of momentum SGD. Collective.
  /// \throws AgreedError{numeric} that names step and layer, with weights and momentum as before the step
  Step step();

  /// Of all test samples. Collective. \throws AgreedError{numeric}
  [[nodiscard]] Step test();

  [[nodiscard]] std::int64_t steps_done() const { return steps_done_; }
  [[nodiscard]] std::int64_t steps_per_epoch() const { return steps_per_epoch_; }
  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  [[nodiscard]] const Mlp& model() const { return model_; }
  [[nodiscard]] const DataSet& data() const { return data_; }
  [[nodiscard]] const Vector<float>& momentum() const { return momentum_; }
  [[nodiscard]] std::vector<BucketReport> buckets() const { return gradients_.report(); }
  /// Seconds in which buckets were under way while backward still computed, so far; 0 without a breakdown.
  [[nodiscard]] double hidden_s() const { return hidden_s_; }

  /// Goes on after `steps_done` steps with these values, by parameter.
  void resume(std::int64_t steps_done, const std::vector<float>& parameters,
              const std::vector<float>& momentum);

 private:
  [[nodiscard]] Mlp::Score score(const std::vector<SampleRange>& grains);
  void load(const Samples& samples, const std::vector<std::int64_t>& which);
  void backward();
  void update(double rate);
  /// Sums over all ranks; where a sample or a gradient can't be used on any, all throw.
  [[nodiscard]] Mlp::Score agree(Mlp::Score own, const std::vector<SampleRange>& grains);

  Settings settings_;
  Context context_;
  DataSet data_;
  app::Breakdown& breakdown_;
  app::Breakdown::Phase load_phase_;
  app::Breakdown::Phase forward_phase_;
  app::Breakdown::Phase backward_phase_;
  app::Breakdown::Phase wait_phase_;
  app::Breakdown::Phase update_phase_;
  Space space_;
  std::vector<SampleRange> grains_;  ///< of the batch: this rank's
  std::vector<SampleRange> local_;   ///< the same, by place on this rank; one if sums may be fast
  Mlp model_;
  Vector<int> labels_;
  Vector<float> momentum_;
  GradientSum gradients_;
  std::int64_t steps_per_epoch_;
  Schedule schedule_;
  std::int64_t steps_done_ = 0;
  std::vector<std::int64_t> order_;  ///< of the epoch order_epoch_
  std::int64_t order_epoch_ = -1;
  double hidden_s_ = 0;
};

}  // namespace selvage::sgd
