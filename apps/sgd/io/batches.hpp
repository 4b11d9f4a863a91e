#pragma once

#include "sgd/io/data_order.hpp"
#include "sgd/io/data_set.hpp"
#include "sgd/model/schedule.hpp"
#include "sgd/model/space.hpp"
#include "sgd/step_figures.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace selvage::sgd {

/// Samples in the space's memory.
struct PlacedSamples {
  Matrix<float> features;
  Vector<int> labels;
};

/// Reads a range of samples. \throws Error{input}
[[nodiscard]] PlacedSamples place_samples(const SampleSource& source, Part part, SampleRange range);

struct BatchesPlan {
  std::int64_t batch;  ///< samples of a step, of all ranks together
  std::int64_t seed;   ///< of the order
  Schedule schedule;
  std::vector<std::int64_t>
      places;                   ///< of the rank's slots: which sample of the batch each has, or -1 for none
  std::int64_t resident_bytes;  ///< the most of features that may stay in the space's memory
};

/// The samples of each step, in the order of its epoch, and its learning rate; all of it in the space's memory, where a
/// captured step finds it by the step's number.
///
/// They come by windows of steps. Where all samples are few enough to stay, every rank has them, and a window is an epoch's
/// order. Else a rank reads the samples of its own slots, window by window, while the space still works on the window
/// before. The order of an epoch, 8 bytes for each sample of the whole set, is every rank's.
class Batches {
 public:
  /// \throws Error{input} for samples that can't be read
  Batches(const Space& space, std::shared_ptr<const SampleSource> source, const BatchesPlan& plan);

  [[nodiscard]] std::int64_t steps_per_epoch() const { return steps_per_epoch_; }
  /// Where the samples are, and how much memory that takes.
  [[nodiscard]] std::string explain() const;

  /// Enqueues what brings the window of a step, unless it is there. \param step  the next one, from 0
  /// \throws Error{input} for samples that can't be read any more
  void prepare(std::int64_t step);
  /// All that was enqueued so far is done: what windows were copied from may be used again.
  void recycle();

  /// Begins the step figures.next(): enqueues what fills the rank's slots. \param input, labels  by slot
  void load(const Matrix<float>& input, const Vector<int>& labels, const StepFigures& figures) const;

  /// Of the step that load() has begun: one element in the space's memory.
  [[nodiscard]] const Vector<float>& rate() const { return rate_; }

 private:
  using Pinned = Kokkos::SharedHostPinnedSpace;
  /// In host memory that is copied from behind the host's back.
  struct Window {
    Kokkos::View<std::int64_t**, Kokkos::LayoutRight, Pinned> rows;
    Kokkos::View<float*, Kokkos::LayoutRight, Pinned> rates;
    Kokkos::View<float**, Kokkos::LayoutRight, Pinned> features;  ///< empty where all samples stay
    Kokkos::View<int*, Kokkos::LayoutRight, Pinned> labels;
  };
  [[nodiscard]] std::int64_t slots() const { return static_cast<std::int64_t>(plan_.places.size()); }
  [[nodiscard]] std::int64_t slots_filled() const;
  [[nodiscard]] Window take_unused();
  void fill(const Window& window, std::int64_t first_step);
  void enqueue_copies(const Window& window) const;

  Space space_;
  std::shared_ptr<const SampleSource> source_;
  BatchesPlan plan_;
  std::int64_t steps_per_epoch_;
  bool is_resident_;
  std::int64_t steps_of_window_;
  PlacedSamples samples_;  ///< all, or those of a window
  std::int64_t epoch_ = -1;
  std::vector<std::int64_t> order_;  ///< of that epoch
  std::int64_t window_begin_ = -1;   ///< step
  Matrix<std::int64_t> rows_;        ///< of samples_, by step of the window and slot; -1: none
  Vector<float> rates_;              ///< by step of the window
  Vector<float> rate_;
  std::vector<Window> copied_;  ///< may still be copied from
  std::vector<Window> unused_;
};

/// Enqueues what fills the first slots with a range of samples as they follow each other.
void load_range(const Space& space, const PlacedSamples& samples, SampleRange range,
                const Matrix<float>& input, const Vector<int>& labels);

}  // namespace selvage::sgd
