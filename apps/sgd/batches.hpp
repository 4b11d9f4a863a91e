#pragma once

#include "sgd/data_order.hpp"
#include "sgd/data_set.hpp"
#include "sgd/schedule.hpp"
#include "sgd/space.hpp"
#include "sgd/step_figures.hpp"

#include <cstdint>
#include <vector>

namespace selvage::sgd {

/// Samples in the space's memory; on hosts those of the DataSet itself.
struct PlacedSamples {
  Matrix<float> features;
  Vector<int> labels;
};

/// The samples of each step, in the order of its epoch, and its learning rate; all of it in the space's memory, where a
/// captured step finds it by the step's number.
class Batches {
 public:
  /// \param samples  to train with, of `width` features; must outlive this
  /// \param places   of the rank's slots: which sample of the batch each has, or -1 for a slot that is left empty
  Batches(const Space& space, const Samples& samples, int width, std::int64_t batch, std::int64_t seed,
          const Schedule& schedule, const std::vector<std::int64_t>& places);

  [[nodiscard]] std::int64_t steps_per_epoch() const { return steps_per_epoch_; }

  /// Enqueues what brings order and rates of a step's epoch, unless they are there. \param step  the next one, from 0
  void prepare(std::int64_t step);
  /// All that was enqueued so far is done: what epochs were copied from may be used again.
  void recycle();

  /// Begins the step figures.next(): enqueues what fills the rank's slots. \param input, labels  by slot
  void load(const Matrix<float>& input, const Vector<int>& labels, const StepFigures& figures) const;

  /// Of the step that load() has begun: one element in the space's memory.
  [[nodiscard]] const Vector<float>& rate() const { return rate_; }

 private:
  /// In host memory that is copied from behind the host's back.
  struct Epoch {
    Kokkos::View<std::int64_t*, Kokkos::SharedHostPinnedSpace> order;
    Kokkos::View<float*, Kokkos::SharedHostPinnedSpace> rates;
  };
  [[nodiscard]] Epoch take_unused();

  Space space_;
  PlacedSamples samples_;
  std::int64_t batch_;
  std::int64_t seed_;
  Schedule schedule_;
  std::int64_t steps_per_epoch_;
  std::int64_t epoch_ = -1;
  Vector<std::int64_t> places_;
  Vector<std::int64_t> order_;
  Vector<float> rates_;  ///< by step of the epoch
  Vector<float> rate_;
  std::vector<Epoch> copied_;  ///< may still be copied from
  std::vector<Epoch> unused_;
};

[[nodiscard]] PlacedSamples place_samples(const Samples& samples, int width);

/// Enqueues what fills the first slots with a range of samples as they follow each other.
void load_range(const Space& space, const PlacedSamples& samples, SampleRange range,
                const Matrix<float>& input, const Vector<int>& labels);

}  // namespace selvage::sgd
