#include "sgd/io/batches.hpp"

#include <selvage/counted.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace selvage::sgd {
namespace {

/// Of a window, unless a single step has more.
constexpr std::int64_t most_window_bytes = std::int64_t{64} << 20;

/// One team's: a sample for a slot.
struct Slot {
  PlacedSamples samples;
  Matrix<float> input;
  Vector<int> labels;

  KOKKOS_FUNCTION void fill(const RowTeams::member_type& team, std::int64_t slot, std::int64_t sample) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, input.extent_int(1)), [&](const int feature) {
      input(slot, feature) = samples.features(sample, feature);
    });
    Kokkos::single(Kokkos::PerTeam(team), [&] { labels(slot) = samples.labels(sample); });
  }
};

struct LoadBatch {
  Slot slots;
  Matrix<std::int64_t> rows;
  Vector<float> rates;
  Vector<float> rate;
  std::int64_t steps_per_epoch;
  StepFigures figures;

  KOKKOS_FUNCTION void operator()(const RowTeams::member_type& team) const {
    const std::int64_t step = figures.next();
    const std::int64_t in_window = step % steps_per_epoch % rates.extent_int(0);
    const int slot = team.league_rank();
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      if (slot != 0) return;
      figures.current() = step;
      rate(0) = rates(in_window);
    });
    const std::int64_t row = rows(in_window, slot);
    if (row >= 0) slots.fill(team, slot, row);
  }
};

struct LoadRange {
  Slot slots;
  std::int64_t first;

  KOKKOS_FUNCTION void operator()(const RowTeams::member_type& team) const {
    slots.fill(team, team.league_rank(), first + team.league_rank());
  }
};

}  // namespace

PlacedSamples place_samples(const SampleSource& source, Part part, SampleRange range) {
  const auto count = static_cast<std::size_t>(range.size());
  const PlacedSamples placed{Matrix<float>("sgd: samples", count, source.shape().width),
                             Vector<int>("sgd: labels of samples", count)};
  const auto features = Kokkos::create_mirror_view(placed.features);
  const auto labels = Kokkos::create_mirror_view(placed.labels);
  source.read_range(part, range, features.data(), labels.data());
  Kokkos::deep_copy(placed.features, features);
  Kokkos::deep_copy(placed.labels, labels);
  return placed;
}

Batches::Batches(const Space& space, std::shared_ptr<const SampleSource> source, const BatchesPlan& plan)
    : space_(space),
      source_(std::move(source)),
      plan_(plan),
      steps_per_epoch_(source_->shape().train / plan.batch),
      rate_("sgd: rate", 1) {
  const std::int64_t sample_bytes = std::int64_t{source_->shape().width} * sizeof(float);
  is_resident_ = source_->shape().train * sample_bytes <= plan_.resident_bytes;
  if (is_resident_) {
    steps_of_window_ = steps_per_epoch_;
    samples_ = place_samples(*source_, Part::train, {0, source_->shape().train});
  } else {
    const std::int64_t step_bytes = std::max<std::int64_t>(1, slots_filled() * sample_bytes);
    steps_of_window_ = std::clamp<std::int64_t>(
        std::min(most_window_bytes, plan_.resident_bytes) / step_bytes, 1, steps_per_epoch_);
    const auto count = static_cast<std::size_t>(steps_of_window_ * slots_filled());
    samples_ = {Matrix<float>("sgd: samples of a window", count, source_->shape().width),
                Vector<int>("sgd: labels of a window", count)};
  }
  rows_ = Matrix<std::int64_t>("sgd: rows of slots", steps_of_window_, slots());
  rates_ = Vector<float>("sgd: rates", static_cast<std::size_t>(steps_of_window_));
}

std::int64_t Batches::slots_filled() const {
  return slots() - std::ranges::count(plan_.places, -1);
}

std::string Batches::explain() const {
  const auto mebibytes = [](std::size_t elements) {
    return static_cast<double>(elements) * sizeof(float) / (1 << 20);
  };
  if (is_resident_)
    return fmt::format("every rank has all samples to train with: {:.3g} MiB",
                       mebibytes(samples_.features.size()));
  return fmt::format(
      "samples are read when they are needed, {} at once: {:.3g} MiB on this rank, and "
      "twice that on its host",
      counted(steps_of_window_, "step"), mebibytes(samples_.features.size()));
}

Batches::Window Batches::take_unused() {
  if (unused_.empty()) {
    const std::size_t read = is_resident_ ? 0 : samples_.labels.extent(0);
    return {decltype(Window::rows)("sgd: rows of slots", rows_.extent(0), rows_.extent(1)),
            decltype(Window::rates)("sgd: rates", rates_.extent(0)),
            decltype(Window::features)("sgd: samples of a window", read, source_->shape().width),
            decltype(Window::labels)("sgd: labels of a window", read)};
  }
  Window window = unused_.back();
  unused_.pop_back();
  return window;
}

void Batches::recycle() {
  unused_.insert(unused_.end(), copied_.begin(), copied_.end());
  copied_.clear();
}

/// \param first_step  of the window, in the epoch that order_ is of
void Batches::fill(const Window& window, std::int64_t first_step) {
  const std::int64_t in_epoch = first_step % steps_per_epoch_;
  const std::int64_t steps = std::min(steps_of_window_, steps_per_epoch_ - in_epoch);
  std::vector<std::int64_t> read;
  for (std::int64_t step = 0; step < steps; ++step) {
    window.rates(step) = static_cast<float>(plan_.schedule.rate(first_step + step));
    for (std::int64_t slot = 0; slot < slots(); ++slot) {
      const std::int64_t place = plan_.places[static_cast<std::size_t>(slot)];
      window.rows(step, slot) = -1;
      if (place < 0) continue;
      const std::int64_t sample = order_[static_cast<std::size_t>((in_epoch + step) * plan_.batch + place)];
      window.rows(step, slot) = is_resident_ ? sample : static_cast<std::int64_t>(read.size());
      if (!is_resident_) read.push_back(sample);
    }
  }
  if (!is_resident_) source_->read(Part::train, read, window.features.data(), window.labels.data());
}

void Batches::enqueue_copies(const Window& window) const {
  Kokkos::deep_copy(space_, rows_, window.rows);
  Kokkos::deep_copy(space_, rates_, window.rates);
  if (is_resident_) return;
  Kokkos::deep_copy(space_, samples_.features, window.features);
  Kokkos::deep_copy(space_, samples_.labels, window.labels);
}

void Batches::prepare(std::int64_t step) {
  const std::int64_t in_epoch = step % steps_per_epoch_;
  const std::int64_t begin = step - in_epoch % steps_of_window_;
  if (begin == window_begin_) return;
  window_begin_ = begin;
  if (const std::int64_t epoch = step / steps_per_epoch_; epoch != epoch_) {
    epoch_ = epoch;
    order_ = order_of_epoch(source_->shape().train, plan_.seed, epoch);
  }
  const Window window = take_unused();
  fill(window, begin);
  if (!is_resident_) {
    // Two windows take turns: what the other one was copied from is free after this, and not before it was read.
    space_.fence("sgd: the window before is done");
    recycle();
  }
  copied_.push_back(window);
  enqueue_copies(window);
}

void Batches::load(const Matrix<float>& input, const Vector<int>& labels, const StepFigures& figures) const {
  Kokkos::parallel_for("sgd::load", teams_of_rows(space_, slots(), input.extent_int(1)),
                       LoadBatch{{samples_, input, labels}, rows_, rates_, rate_, steps_per_epoch_, figures});
}

void load_range(const Space& space, const PlacedSamples& samples, SampleRange range,
                const Matrix<float>& input, const Vector<int>& labels) {
  Kokkos::parallel_for("sgd::load", teams_of_rows(space, range.size(), input.extent_int(1)),
                       LoadRange{{samples, input, labels}, range.begin});
}

}  // namespace selvage::sgd
