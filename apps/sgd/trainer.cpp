#include "sgd/trainer.hpp"

#include "common/rank_sums.hpp"
#include "sgd/sums/fixed_point.hpp"

#include <selvage/agreement.hpp>
#include <selvage/counted.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace selvage::sgd {
namespace {

ModelShape shape_of(const Settings& settings, const SampleSource::Shape& data) {
  return {.inputs = data.width,
          .image = settings.image,
          .channels = settings.channels,
          .hidden = settings.hidden,
          .classes = data.classes};
}

std::vector<SampleRange> batch_grains(const Settings& settings, const Context& context,
                                      const SampleSource::Shape& data) {
  if (settings.batch > data.train) {
    throw Error(ErrorKind::input, fmt::format("train.batch is {}, and {} has {} samples to train with",
                                              settings.batch, settings.data_path, data.train));
  }
  const std::int64_t grain = settings.ordered ? settings.grain : 1;
  const std::int64_t grains = (settings.batch + grain - 1) / grain;
  if (grains < context.size()) {
    throw Error(ErrorKind::input,
                fmt::format("train.batch = {} gives {} of {} to {}: use fewer ranks, a larger batch{}",
                            settings.batch, counted(grains, "grain"), grain, counted(context.size(), "rank"),
                            settings.ordered ? ", or a smaller train.grain" : ""));
  }
  return grains_of_rank(settings.batch, grain, context.size(), context.rank());
}

/// By place on this rank; with fast sums all samples are one grain. Grains begin at a multiple of 4 samples, so that
/// whichever place one has, its rows are as far from a multiple of 16 bytes.
std::vector<SampleRange> local_grains(const std::vector<SampleRange>& grains, bool ordered) {
  if (!ordered) return {{0, span_of(grains).size()}};
  std::vector<SampleRange> local;
  std::int64_t begin = 0;
  for (const SampleRange& grain : grains) {
    local.push_back({begin, begin + grain.size()});
    begin += (grain.size() + 3) / 4 * 4;
  }
  return local;
}

/// Which sample of the batch each slot has; -1: none.
std::vector<std::int64_t> places_of(const std::vector<SampleRange>& grains,
                                    const std::vector<SampleRange>& local) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(span_of(local).end), -1);
  std::int64_t sample = span_of(grains).begin;
  for (const SampleRange& range : local) {
    for (std::int64_t slot = range.begin; slot < range.end; ++slot)
      places[static_cast<std::size_t>(slot)] = sample++;
  }
  return places;
}

/// As in training, what a product holds mustn't depend on the number of ranks where sums don't.
std::vector<SampleRange> test_grains(const Settings& settings, const Context& context, std::int64_t count,
                                     std::int64_t slots) {
  const std::int64_t size = settings.ordered ? std::min(settings.grain, settings.batch) : slots;
  return grains_of_rank(count, size, context.size(), context.rank());
}

}  // namespace

Trainer::Trainer(const Space& space, const Settings& settings, const Context& context,
                 std::shared_ptr<const SampleSource> source, app::Breakdown& breakdown)
    : settings_(settings),
      context_(context),
      source_(std::move(source)),
      data_(survey(context.comm(), *source_)),
      breakdown_(breakdown),
      load_phase_(breakdown.phase("load")),
      forward_phase_(breakdown.phase("forward")),
      backward_phase_(breakdown.phase("backward")),
      wait_phase_(breakdown.phase("wait")),
      update_phase_(breakdown.phase("update")),
      space_(space),
      grains_(batch_grains(settings, context, data_.shape)),
      local_(local_grains(grains_, settings.ordered)),
      // Ranks may choose different algorithms: parameters stay equal as the sums of gradients that they get are.
      model_(space, shape_of(settings, data_.shape), span_of(local_).end,
             settings.timed_products ? ProductChoice::timed : ProductChoice::fixed),
      labels_("sgd: labels", static_cast<std::size_t>(span_of(local_).end)),
      velocities_(model_.parameters().extent(0), settings.sharded),
      pieces_(cut_gradients(model_, settings.bucket_bytes)),
      gradients_(space_, context, settings, plan_sums()),
      schedule_{settings.rate, settings.warmup_steps, settings.epochs * (data_.shape.train / settings.batch)},
      batches_(
          space_, source_,
          {settings.batch, settings.seed, schedule_, places_of(grains_, local_), settings.resident_bytes}),
      test_grains_(test_grains(settings, context, data_.shape.test, span_of(local_).size())),
      test_samples_(place_samples(*source_, Part::test, span_of(test_grains_))),
      figures_(settings.report_every),
      test_figures_(1) {
  model_.draw_parameters(settings.seed);
}

GradientSum::Plan Trainer::plan_sums() {
  GradientSum::Plan plan{.tensors = pieces_.tensors, .first_of_last_layer = pieces_.layers.back().first};
  if (settings_.sharded) {
    plan.sharding = {model_.parameters(), [this](const Space& instance, std::int64_t begin,
                                                 std::int64_t count) { update(instance, begin, count); }};
  }
  return plan;
}

std::vector<float> Trainer::momentum() const {
  space_.fence("sgd: momentum");
  return velocities_.gather(context_.comm());
}

BucketHistogram Trainer::bucket_sizes() const {
  if (!bucket_sizes_.rows().empty()) return bucket_sizes_;
  BucketHistogram of_a_step;
  of_a_step.add(gradients_.report());
  return of_a_step;
}

std::vector<Trainer::Step> Trainer::report() {
  const auto timer = breakdown_.time(space_, wait_phase_);
  const auto rows = Kokkos::create_mirror_view(Kokkos::HostSpace(), figures_.rows);
  Kokkos::deep_copy(space_, rows, figures_.rows);
  space_.fence("sgd: report");
  batches_.recycle();
  gradients_.check();
  std::vector<std::int64_t> own;
  for (std::int64_t step = steps_reported_; step < steps_done_; ++step) {
    const std::int64_t* row = &rows(step % rows.extent_int(0), 0);
    own.insert(own.end(), row, row + StepFigures::columns);
  }
  const std::vector<std::int64_t> sums = app::sum_counts(context_.comm(), "the sum of the losses", own);
  Kokkos::deep_copy(space_, figures_.rows, 0);
  std::vector<Step> steps;
  const auto samples = static_cast<double>(settings_.batch);
  for (std::size_t row = 0; row < sums.size(); row += StepFigures::columns) {
    require_usable(++steps_reported_, &sums[row], &own[row]);
    steps.push_back({fixed_point::to_real(sums[row + StepFigures::loss]) / samples,
                     static_cast<double>(sums[row + StepFigures::correct]) / samples});
  }
  return steps;
}

/// \param sums, own  a step's figures, of all ranks and of this one
void Trainer::require_usable(std::int64_t step, const std::int64_t* sums, const std::int64_t* own) const {
  using Figures = StepFigures;
  if (sums[Figures::unusable_samples] == 0 && sums[Figures::unusable_layer] == 0 &&
      sums[Figures::unusable_tensor] == 0)
    return;
  together(context_.comm(), "the loss", [&] {
    const auto refuse = [&](const std::string& what) {
      throw Error(ErrorKind::numeric, fmt::format("{} in step {}", what, step));
    };
    const auto number = [&](Figures::Column column) { return Figures::number_marked(own[column]); };
    if (own[Figures::unusable_layer] > 0)
      refuse(fmt::format("the output of layer {} is NaN or infinite",
                         model_.name_of(static_cast<int>(number(Figures::unusable_layer)))));
    if (own[Figures::unusable_samples] > 0)
      refuse(fmt::format("the loss after layer {} is too large", model_.name_of(model_.layers() - 1)));
    if (own[Figures::unusable_tensor] > 0)
      refuse(
          fmt::format("the gradient of {} is NaN, infinite or above {}",
                      gradients_.tensors()[static_cast<std::size_t>(number(Figures::unusable_tensor))].name,
                      fixed_point::largest));
  });
}

Trainer::Step Trainer::test() {
  const std::int64_t count = data_.shape.test;
  const std::int64_t first = span_of(test_grains_).begin;
  Kokkos::deep_copy(space_, test_figures_.rows, 0);
  for (const SampleRange& grain : test_grains_) {
    load_range(space_, test_samples_, {grain.begin - first, grain.end - first}, model_.input(), labels_);
    forward({{0, grain.size()}}, test_figures_);
  }
  const auto row = Kokkos::create_mirror_view(Kokkos::HostSpace(), test_figures_.rows);
  Kokkos::deep_copy(space_, row, test_figures_.rows);
  space_.fence("sgd: test");
  const auto sums = app::sum_counts(context_.comm(), "the sum of the test's losses",
                                    std::span<const std::int64_t>(row.data(), StepFigures::columns));
  if (sums[StepFigures::unusable_samples] > 0 || sums[StepFigures::unusable_layer] > 0) {
    throw AgreedError(ErrorKind::numeric,
                      fmt::format("the loss of {} test samples is NaN, infinite or too large after step {}",
                                  sums[StepFigures::unusable_samples], steps_done_),
                      0, 0);
  }
  return {fixed_point::to_real(sums[StepFigures::loss]) / static_cast<double>(count),
          static_cast<double>(sums[StepFigures::correct]) / static_cast<double>(count)};
}

void Trainer::resume(std::int64_t steps_done, const std::vector<float>& parameters,
                     const std::vector<float>& momentum) {
  using Values = Kokkos::View<const float*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  Kokkos::deep_copy(space_, model_.parameters(), Values(parameters.data(), parameters.size()));
  velocities_.set(momentum);
  Kokkos::deep_copy(space_, figures_.steps, steps_done);
  space_.fence("sgd: resumed");
  steps_done_ = steps_reported_ = steps_done;
}

}  // namespace selvage::sgd
