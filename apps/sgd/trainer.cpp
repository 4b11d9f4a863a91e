#include "sgd/trainer.hpp"

#include "common/agreement.hpp"
#include "sgd/fixed_point.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace selvage::sgd {
namespace {

std::vector<int> widths_of(const Settings& settings, const DataSet& data) {
  std::vector<int> widths{data.width};
  widths.insert(widths.end(), settings.hidden.begin(), settings.hidden.end());
  widths.push_back(data.classes);
  return widths;
}

std::vector<SampleRange> batch_grains(const Settings& settings, const Context& context, const DataSet& data) {
  if (settings.batch > data.train.count()) {
    throw Error(ErrorKind::input, fmt::format("train.batch is {}, and {} has {} samples to train with",
                                              settings.batch, settings.data_path, data.train.count()));
  }
  const std::int64_t grain = settings.ordered ? settings.grain : 1;
  const std::int64_t grains = (settings.batch + grain - 1) / grain;
  if (grains < context.size()) {
    throw Error(
        ErrorKind::input,
        fmt::format("train.batch = {} gives {} grain{} of {} to {} ranks: use fewer ranks, a larger batch{}",
                    settings.batch, grains, grains == 1 ? "" : "s", grain, context.size(),
                    settings.ordered ? ", or a smaller train.grain" : ""));
  }
  return grains_of_rank(settings.batch, grain, context.size(), context.rank());
}

/// By place on this rank; with fast sums all samples are one grain.
std::vector<SampleRange> local_grains(const std::vector<SampleRange>& grains, bool ordered) {
  const SampleRange span = span_of(grains);
  if (!ordered) return {{0, span.size()}};
  std::vector<SampleRange> local;
  for (const SampleRange& grain : grains) local.push_back({grain.begin - span.begin, grain.end - span.begin});
  return local;
}

}  // namespace

Trainer::Trainer(const Settings& settings, const Context& context, DataSet data, app::Breakdown& breakdown)
    : settings_(settings),
      context_(context),
      data_(std::move(data)),
      breakdown_(breakdown),
      load_phase_(breakdown.phase("load")),
      forward_phase_(breakdown.phase("forward")),
      backward_phase_(breakdown.phase("backward")),
      wait_phase_(breakdown.phase("wait")),
      update_phase_(breakdown.phase("update")),
      grains_(batch_grains(settings, context, data_)),
      local_(local_grains(grains_, settings.ordered)),
      model_(widths_of(settings, data_), span_of(local_).size()),
      labels_("sgd: labels", static_cast<std::size_t>(span_of(local_).size())),
      momentum_("sgd: momentum", model_.parameters().extent(0)),
      gradients_(space_, context, settings, model_.tensors()),
      steps_per_epoch_(data_.train.count() / settings.batch),
      schedule_{settings.rate, settings.warmup_steps, settings.epochs * steps_per_epoch_} {
  model_.draw_parameters(settings.seed);
}

void Trainer::load(const Samples& samples, const std::vector<std::int64_t>& which) {
  const auto timer = breakdown_.time(space_, load_phase_);
  const Matrix<float> input = model_.input();
  for (std::size_t i = 0; i < which.size(); ++i) {
    std::copy_n(samples.features.data() + which[i] * data_.width, data_.width,
                input.data() + static_cast<std::int64_t>(i) * data_.width);
    labels_(i) = samples.labels[static_cast<std::size_t>(which[i])];
  }
}

Mlp::Score Trainer::score(const std::vector<SampleRange>& grains) {
  const auto timer = breakdown_.time(space_, forward_phase_);
  Mlp::Score sum;
  for (const SampleRange& grain : grains) {
    model_.forward(space_, grain);
    const Mlp::Score score = model_.score(space_, grain, labels_);
    sum.loss += score.loss;
    sum.correct += score.correct;
    sum.unusable += score.unusable;
  }
  return sum;
}

void Trainer::backward() {
  const auto timer = breakdown_.time(space_, backward_phase_);
  gradients_.begin(space_);
  for (int layer = model_.layers() - 1; layer >= 0; --layer) {
    const std::size_t weight = Mlp::weight_of(layer);
    for (const SampleRange& grain : local_) {
      model_.gradients(space_, layer, grain, gradients_.grain());
      gradients_.add(space_, weight);
      gradients_.add(space_, weight + 1);
    }
    gradients_.ready(space_, weight + 1);
    gradients_.ready(space_, weight);
    if (layer == 0) continue;
    for (const SampleRange& grain : local_) model_.propagate(space_, layer, grain);
  }
}

Mlp::Score Trainer::agree(Mlp::Score own, const std::vector<SampleRange>& grains) {
  std::array<std::int64_t, 3> sums{own.loss, own.correct, own.unusable + (gradients_.unusable() ? 1 : 0)};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, sums.data(), 3, MPI_INT64_T, MPI_SUM, context_.comm()),
            "MPI_Allreduce of the loss");
  if (sums[2] == 0) return {sums[0], sums[1], 0};
  app::together(context_.comm(), "the loss", [&] {
    const std::string when = fmt::format("in step {}", steps_done_ + 1);
    for (const SampleRange& grain : grains) {
      if (const auto layer = model_.first_unusable_layer(space_, grain))
        throw Error(ErrorKind::numeric,
                    fmt::format("the output of layer {} is NaN or infinite {}", Mlp::name_of(*layer), when));
    }
    if (own.unusable > 0)
      throw Error(ErrorKind::numeric, fmt::format("the loss after layer {} is too large {}",
                                                  Mlp::name_of(model_.layers() - 1), when));
    if (const auto tensor = gradients_.unusable())
      throw Error(ErrorKind::numeric,
                  fmt::format("the gradient of {} is NaN, infinite or above {} {}",
                              model_.tensors()[*tensor].name, fixed_point::largest, when));
  });
  return {};
}

void Trainer::update(double rate) {
  const auto timer = breakdown_.time(space_, update_phase_);
  const GradientSum::Values sums = gradients_.values();
  const Vector<float> parameters = model_.parameters();
  const Vector<float> velocities = momentum_;
  const double share = 1 / static_cast<double>(settings_.batch);
  const auto speed = static_cast<float>(rate);
  const auto momentum = static_cast<float>(settings_.momentum);
  const auto decay = static_cast<float>(settings_.weight_decay);
  Kokkos::parallel_for(
      "sgd::update",
      Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(
          space_, 0, static_cast<std::int64_t>(parameters.extent(0))),
      KOKKOS_LAMBDA(const std::int64_t i) {
        const float gradient = static_cast<float>(sums(i) * share) + decay * parameters(i);
        velocities(i) = momentum * velocities(i) + gradient;
        parameters(i) -= speed * velocities(i);
      });
}

Trainer::Step Trainer::step() {
  const std::int64_t epoch = steps_done_ / steps_per_epoch_;
  if (epoch != order_epoch_) order_ = order_of_epoch(data_.train.count(), settings_.seed, epoch);
  order_epoch_ = epoch;
  const SampleRange span = span_of(grains_);
  const auto first = order_.begin() + steps_done_ % steps_per_epoch_ * settings_.batch;
  load(data_.train, {first + span.begin, first + span.end});
  const Mlp::Score own = score(local_);
  backward();
  Mlp::Score all;
  {
    const auto timer = breakdown_.time(space_, wait_phase_);
    gradients_.finish(space_);
    all = agree(own, local_);
  }
  if (breakdown_.measures())
    for (const BucketReport& bucket : gradients_.report()) hidden_s_ += bucket.hidden;
  update(schedule_.rate(steps_done_));
  ++steps_done_;
  const auto samples = static_cast<double>(settings_.batch);
  return {fixed_point::to_real(all.loss) / samples, static_cast<double>(all.correct) / samples};
}

Trainer::Step Trainer::test() {
  const Samples& samples = data_.test;
  // As in training, what a product holds mustn't depend on the number of ranks where sums don't.
  const std::int64_t size =
      settings_.ordered ? std::min(settings_.grain, settings_.batch) : span_of(local_).size();
  Mlp::Score sum;
  for (const SampleRange& grain : grains_of_rank(samples.count(), size, context_.size(), context_.rank())) {
    std::vector<std::int64_t> which(static_cast<std::size_t>(grain.size()));
    std::iota(which.begin(), which.end(), grain.begin);
    load(samples, which);
    const Mlp::Score part = score({{0, grain.size()}});
    sum.loss += part.loss;
    sum.correct += part.correct;
    sum.unusable += part.unusable;
  }
  std::array<std::int64_t, 3> sums{sum.loss, sum.correct, sum.unusable};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, sums.data(), 3, MPI_INT64_T, MPI_SUM, context_.comm()),
            "MPI_Allreduce of the test's loss");
  const auto count = static_cast<double>(samples.count());
  if (sums[2] > 0) {
    throw app::AgreedError(
        ErrorKind::numeric,
        fmt::format("the loss of {} test samples is NaN, infinite or too large after step {}", sums[2],
                    steps_done_),
        0, 0);
  }
  return {fixed_point::to_real(sums[0]) / count, static_cast<double>(sums[1]) / count};
}

void Trainer::resume(std::int64_t steps_done, const std::vector<float>& parameters,
                     const std::vector<float>& momentum) {
  steps_done_ = steps_done;
  std::ranges::copy(parameters, model_.parameters().data());
  std::ranges::copy(momentum, momentum_.data());
}

}  // namespace selvage::sgd
