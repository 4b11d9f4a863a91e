#include "sgd/batches.hpp"

namespace selvage::sgd {
namespace {

using Elements = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;

template <class T>
Vector<T> placed(const std::vector<T>& values) {
  const Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> there(values.data(),
                                                                                 values.size());
  Vector<T> here("sgd: order", values.size());
  Kokkos::deep_copy(here, there);
  return here;
}

struct LoadBatch {
  PlacedSamples samples;
  Vector<std::int64_t> places;
  Vector<std::int64_t> order;
  std::int64_t batch;
  std::int64_t steps_per_epoch;
  Matrix<float> input;
  Vector<int> labels;
  StepFigures figures;

  KOKKOS_FUNCTION void operator()(const std::int64_t i) const {
    const int width = input.extent_int(1);
    const std::int64_t slot = i / width;
    const auto feature = static_cast<int>(i % width);
    const std::int64_t step = figures.next();
    if (i == 0) figures.current() = step;
    if (places(slot) < 0) return;
    const std::int64_t sample = order(step % steps_per_epoch * batch + places(slot));
    input(slot, feature) = samples.features(sample, feature);
    if (feature == 0) labels(slot) = samples.labels(sample);
  }
};

struct LoadRange {
  PlacedSamples samples;
  std::int64_t first;
  Matrix<float> input;
  Vector<int> labels;

  KOKKOS_FUNCTION void operator()(const std::int64_t i) const {
    const int width = input.extent_int(1);
    const std::int64_t slot = i / width;
    const auto feature = static_cast<int>(i % width);
    input(slot, feature) = samples.features(first + slot, feature);
    if (feature == 0) labels(slot) = samples.labels(first + slot);
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
      rates_("sgd: rates", static_cast<std::size_t>(steps_per_epoch_)) {}

void Batches::prepare(std::int64_t step) {
  const std::int64_t epoch = step / steps_per_epoch_;
  if (epoch == epoch_) return;
  epoch_ = epoch;
  const std::vector<std::int64_t> order =
      order_of_epoch(static_cast<std::int64_t>(order_.extent(0)), seed_, epoch);
  std::vector<float> rates;
  for (std::int64_t i = 0; i < steps_per_epoch_; ++i)
    rates.push_back(static_cast<float>(schedule_.rate(epoch * steps_per_epoch_ + i)));
  using Order = Kokkos::View<const std::int64_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  using Rates = Kokkos::View<const float*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  Kokkos::deep_copy(space_, order_, Order(order.data(), order.size()));
  Kokkos::deep_copy(space_, rates_, Rates(rates.data(), rates.size()));
  // Once an epoch: what is copied from goes with this call.
  space_.fence("sgd: an epoch's order is there");
}

void Batches::load(const Matrix<float>& input, const Vector<int>& labels, const StepFigures& figures) const {
  const auto elements = static_cast<std::int64_t>(places_.extent(0)) * input.extent_int(1);
  Kokkos::parallel_for(
      "sgd::load", Elements(space_, 0, elements),
      LoadBatch{samples_, places_, order_, batch_, steps_per_epoch_, input, labels, figures});
}

void load_range(const Space& space, const PlacedSamples& samples, SampleRange range,
                const Matrix<float>& input, const Vector<int>& labels) {
  Kokkos::parallel_for("sgd::load", Elements(space, 0, range.size() * input.extent_int(1)),
                       LoadRange{samples, range.begin, input, labels});
}

}  // namespace selvage::sgd
