#include "sgd/batches.hpp"

#include <algorithm>

namespace selvage::sgd {
namespace {

template <class T>
Vector<T> placed(const std::vector<T>& values) {
  const Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> there(values.data(),
                                                                                 values.size());
  Vector<T> here("sgd: order", values.size());
  Kokkos::deep_copy(here, there);
  return here;
}

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
  Vector<std::int64_t> places;
  Vector<std::int64_t> order;
  Vector<float> rates;
  Vector<float> rate;
  std::int64_t batch;
  StepFigures figures;

  KOKKOS_FUNCTION void operator()(const RowTeams::member_type& team) const {
    const std::int64_t step = figures.next();
    const std::int64_t in_epoch = step % rates.extent_int(0);
    const int slot = team.league_rank();
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      if (slot != 0) return;
      figures.current() = step;
      rate(0) = rates(in_epoch);
    });
    if (places(slot) >= 0) slots.fill(team, slot, order(in_epoch * batch + places(slot)));
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

PlacedSamples place_samples(const Samples& samples, int width) {
  using Kokkos::HostSpace;
  using Kokkos::LayoutRight;
  const auto count = static_cast<std::size_t>(samples.count());
  // Never written: where the space's memory is the host's, no copy is made.
  const Kokkos::View<float**, LayoutRight, HostSpace, Kokkos::MemoryUnmanaged> features(
      const_cast<float*>(samples.features.data()), count, width);
  const Kokkos::View<int*, LayoutRight, HostSpace, Kokkos::MemoryUnmanaged> labels(
      const_cast<int*>(samples.labels.data()), count);
  return {Kokkos::create_mirror_view_and_copy(Space::memory_space(), features),
          Kokkos::create_mirror_view_and_copy(Space::memory_space(), labels)};
}

Batches::Batches(const Space& space, const Samples& samples, int width, std::int64_t batch, std::int64_t seed,
                 const Schedule& schedule, const std::vector<std::int64_t>& places)
    : space_(space),
      samples_(place_samples(samples, width)),
      batch_(batch),
      seed_(seed),
      schedule_(schedule),
      steps_per_epoch_(samples.count() / batch),
      places_(placed(places)),
      order_("sgd: order", static_cast<std::size_t>(samples.count())),
      rates_("sgd: rates", static_cast<std::size_t>(steps_per_epoch_)),
      rate_("sgd: rate", 1) {}

Batches::Epoch Batches::take_unused() {
  if (unused_.empty()) {
    return {decltype(Epoch::order)("sgd: order", order_.extent(0)),
            decltype(Epoch::rates)("sgd: rates", rates_.extent(0))};
  }
  Epoch epoch = unused_.back();
  unused_.pop_back();
  return epoch;
}

void Batches::recycle() {
  unused_.insert(unused_.end(), copied_.begin(), copied_.end());
  copied_.clear();
}

void Batches::prepare(std::int64_t step) {
  const std::int64_t epoch = step / steps_per_epoch_;
  if (epoch == epoch_) return;
  epoch_ = epoch;
  const Epoch next = copied_.emplace_back(take_unused());
  std::ranges::copy(order_of_epoch(static_cast<std::int64_t>(order_.extent(0)), seed_, epoch),
                    next.order.data());
  for (std::int64_t i = 0; i < steps_per_epoch_; ++i)
    next.rates(i) = static_cast<float>(schedule_.rate(epoch * steps_per_epoch_ + i));
  Kokkos::deep_copy(space_, order_, next.order);
  Kokkos::deep_copy(space_, rates_, next.rates);
}

void Batches::load(const Matrix<float>& input, const Vector<int>& labels, const StepFigures& figures) const {
  Kokkos::parallel_for(
      "sgd::load", teams_of_rows(space_, static_cast<std::int64_t>(places_.extent(0)), input.extent_int(1)),
      LoadBatch{{samples_, input, labels}, places_, order_, rates_, rate_, batch_, figures});
}

void load_range(const Space& space, const PlacedSamples& samples, SampleRange range,
                const Matrix<float>& input, const Vector<int>& labels) {
  Kokkos::parallel_for("sgd::load", teams_of_rows(space, range.size(), input.extent_int(1)),
                       LoadRange{{samples, input, labels}, range.begin});
}

}  // namespace selvage::sgd
