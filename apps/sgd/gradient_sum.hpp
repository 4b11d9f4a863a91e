#pragma once

#include "sgd/fixed_point.hpp"
#include "sgd/model.hpp"
#include "sgd/settings.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/comm/gradient_buckets.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace selvage::sgd {

/// The gradients of a batch: those of a rank's grains are added up, and buckets of them over the ranks as soon as they are
/// complete.
///
/// Ordered, grains are added in fixed point, which takes twice the bytes of fp32 on the wire, and a product per grain
/// instead of one per rank; any number of ranks gives the same bits. Fast, a rank has one grain and sums are fp32.
class GradientSum {
 public:
  /// Collective over the context's communicator.
  GradientSum(const Space& space, const Context& context, const Settings& settings,
              const std::vector<Tensor>& tensors);

  /// As given.
  [[nodiscard]] const std::vector<Tensor>& tensors() const { return tensors_; }
  /// Where a grain's gradients of all tensors go before add().
  [[nodiscard]] const Vector<float>& grain() const { return grain_; }

  /// Forgets the last batch.
  void begin(const Space& space);
  /// Adds the grain's gradient by one tensor; marks the tensor in the step's figures where an element has no place in the
  /// sum: NaN, infinite or too large.
  void add(const Space& space, std::size_t tensor, const StepFigures& figures);
  /// No grain of this rank is left for the tensor: its sum may leave. Without overlap, it waits for finish().
  /// This, finish() and check() \throw Error{timeout} that names a late rank and the tensors of the bucket
  void ready(const Space& space, std::size_t tensor);
  /// What `space` is given next sees sums over all ranks in values(). Collective.
  void finish(const Space& space);

  /// Throws what a GPU found while it waited for other ranks.
  void check() const;
  /// Whether a step can be captured in a graph, once one step is finished: no bucket needs the host.
  [[nodiscard]] bool can_be_captured() const;

  [[nodiscard]] bool ordered() const { return ordered_; }
  /// The sums, by parameter: fixed point where ordered, else real.
  [[nodiscard]] const Vector<std::int64_t>& fixed() const { return fixed_; }
  [[nodiscard]] const Vector<float>& real() const { return grain_; }

  /// Of the step that was finished last, by bucket.
  [[nodiscard]] std::vector<BucketReport> report() const { return buckets_->report(); }

 private:
  /// Runs what may wait for other ranks.
  template <class Work>
  void naming_tensors(const Work& work) const;
  [[nodiscard]] std::string tensors_of(const BucketReport& bucket) const;

  bool ordered_;
  bool overlap_;
  std::vector<Tensor> tensors_;
  Vector<float> grain_;
  Vector<std::int64_t> fixed_;          ///< empty unless ordered
  std::vector<std::size_t> held_back_;  ///< ready, but only finish() may send it
  std::unique_ptr<GradientBuckets> buckets_;
  std::vector<std::string> bucket_tensors_;  ///< by bucket, once these are made
};

}  // namespace selvage::sgd
