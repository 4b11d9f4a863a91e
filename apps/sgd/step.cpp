// The program in one page: what a step loads, computes and sums, in order. The rest of Trainer is in trainer.cpp. `gradients_` is where
// Selvage is called, in sums/gradient_sum.cpp: ready() gives a tensor to GradientBuckets, or ShardedBuckets, which sum it while backward
// goes on; finish_all_but_last() and finish() wait for the sums.

#include "sgd/trainer.hpp"

#include <utility>
#include <vector>

namespace selvage::sgd {
namespace {

/// Buckets are made in the first step, and what is launched first may have to be loaded.
constexpr std::int64_t steps_before_capture = 2;

}  // namespace

void Trainer::step() {
  {
    const auto timer = breakdown_.time(space_, load_phase_);
    batches_.prepare(steps_done_);
  }
  if (!is_captured() && steps_enqueued_ == steps_before_capture && settings_.graph &&
      gradients_.can_be_captured()) {
    space_.fence("sgd: before a step is captured");
    graph_ = capture_step(space_, [this] { enqueue_step(); });
  }
  if (is_captured()) {
    graph_.replay();
  } else {
    enqueue_step();
    if (steps_enqueued_++ == 0) velocities_.settle();
  }
  ++steps_done_;
}

void Trainer::enqueue_step() {
  {
    const auto timer = breakdown_.time(space_, load_phase_);
    batches_.load(model_.input(), labels_, figures_);
  }
  forward(local_, figures_);
  backward();
  std::int64_t first_summed = 0;
  {
    const auto timer = breakdown_.time(space_, wait_phase_);
    first_summed = gradients_.finish_all_but_last(space_);
  }
  // The last bucket has nothing of backward to hide behind: it travels while the other parameters are moved.
  update_range(first_summed, static_cast<std::int64_t>(model_.parameters().extent(0)));
  finish_sums();
  if (breakdown_.measures()) {
    const std::vector<GradientBuckets::Report> buckets = gradients_.report();
    for (const GradientBuckets::Report& bucket : buckets) hidden_s_ += bucket.hidden;
    // Buckets are made in the first step, which has no times.
    if (steps_enqueued_ > 0) bucket_sizes_.add(buckets);
  }
  update_range(0, first_summed);
}

void Trainer::forward(const std::vector<SampleRange>& ranges, const StepFigures& figures) {
  const auto timer = breakdown_.time(space_, forward_phase_);
  for (const SampleRange& range : ranges) {
    model_.forward(range, figures);
    model_.score(range, labels_, figures);
  }
}

void Trainer::backward() {
  const auto timer = breakdown_.time(space_, backward_phase_);
  gradients_.begin(space_);
  for (int layer = model_.layers() - 1; layer >= 0; --layer) {
    const bool is_in_tiles = gradients_.has_tiles() && layer == model_.layers() - 1;
    if (is_in_tiles) {
      compute_gradients_in_tiles(layer);
    } else {
      compute_gradients(layer);
    }
    if (layer > 0)
      for (const SampleRange& grain : local_) model_.propagate(layer, grain);
    // Sharded, parameters change as soon as they may, and propagate() reads them.
    if (gradients_.is_sharded()) make_ready(pieces_.layers[static_cast<std::size_t>(layer)]);
  }
}

void Trainer::compute_gradients(int layer) {
  const GradientPieces::OfLayer& pieces = pieces_.layers[static_cast<std::size_t>(layer)];
  const auto is_complete = [&](std::size_t tensor) {
    if (!gradients_.is_sharded()) gradients_.ready(space_, tensor);
  };
  for (const SampleRange& grain : local_) {
    model_.bias_gradient(layer, grain, gradients_.grain());
    gradients_.add(space_, pieces.bias, figures_);
  }
  is_complete(pieces.bias);
  for (const auto& [rows, tensor] : pieces.weight) {
    for (const SampleRange& grain : local_) {
      model_.weight_gradient(layer, grain, rows, gradients_.grain());
      gradients_.add(space_, tensor, figures_);
    }
    is_complete(tensor);
  }
}

void Trainer::compute_gradients_in_tiles(int layer) {
  for (const SampleRange& grain : local_) {
    model_.bias_gradient(layer, grain, gradients_.grain());
    model_.weight_gradient(layer, grain, model_.rows_of(layer), gradients_.grain());
    gradients_.add_last_layer(space_, figures_, grain == local_.back());
  }
}

void Trainer::make_ready(const GradientPieces::OfLayer& pieces) {
  gradients_.ready(space_, pieces.bias);
  for (const auto& [rows, tensor] : pieces.weight) gradients_.ready(space_, tensor);
}

void Trainer::finish_sums() {
  const auto timer = breakdown_.time(space_, wait_phase_);
  gradients_.finish(space_);
}

void Trainer::update_range(std::int64_t begin, std::int64_t end) {
  const auto timer = breakdown_.time(space_, update_phase_);
  if (!gradients_.is_sharded() && begin < end) update(space_, begin, end - begin);
}

void Trainer::update(const Space& instance, std::int64_t begin, std::int64_t count) {
  const std::pair range(begin, begin + count);
  if (gradients_.ordered()) {
    sgd::update(instance, optimizer(instance, begin, count), Kokkos::subview(gradients_.fixed(), range));
  } else {
    sgd::update(instance, optimizer(instance, begin, count), Kokkos::subview(gradients_.real(), range));
  }
}

Optimizer Trainer::optimizer(const Space& instance, std::int64_t begin, std::int64_t count) {
  return {.parameters = Kokkos::subview(model_.parameters(), std::pair(begin, begin + count)),
          .velocities = velocities_.of(instance, begin, count),
          .rate = batches_.rate(),
          .batch = settings_.batch,
          .momentum = static_cast<float>(settings_.momentum),
          .decay = static_cast<float>(settings_.weight_decay)};
}

}  // namespace selvage::sgd
