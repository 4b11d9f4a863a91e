#pragma once

#include "sgd/fixed_point.hpp"
#include "sgd/mlp.hpp"
#include "sgd/settings.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/comm/gradient_buckets.hpp>

#include <cstdint>
#include <memory>
#include <optional>
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

  /// Where a grain's gradients of all tensors go before add().
  [[nodiscard]] const Vector<float>& grain() const { return grain_; }

  /// Forgets the last batch.
  void begin(const Space& space);
  /// Adds the grain's gradient by one tensor.
  void add(const Space& space, std::size_t tensor);
  /// No grain of this rank is left for the tensor: its sum may leave. Without overlap, it waits for finish().
  void ready(const Space& space, std::size_t tensor);
  /// After this values() are sums over all ranks. Collective.
  void finish(const Space& space);

  /// A tensor of which this rank has met a gradient that has no place in the sum: NaN, infinite or too large.
  [[nodiscard]] std::optional<std::size_t> unusable() const { return unusable_; }

  /// The sums as numbers, for kernels.
  struct Values {
    Vector<std::int64_t> fixed;
    Vector<float> real;
    bool ordered;
    [[nodiscard]] KOKKOS_INLINE_FUNCTION double operator()(std::int64_t element) const {
      return ordered ? fixed_point::to_real(fixed(element)) : static_cast<double>(real(element));
    }
  };
  [[nodiscard]] Values values() const { return {fixed_, grain_, ordered_}; }

  /// Of the step that was finished last, by bucket.
  [[nodiscard]] std::vector<BucketReport> report() const { return buckets_->report(); }

 private:
  bool ordered_;
  bool overlap_;
  std::vector<Tensor> tensors_;
  Vector<float> grain_;
  Vector<std::int64_t> fixed_;  ///< empty unless ordered
  std::optional<std::size_t> unusable_;
  std::vector<std::size_t> held_back_;  ///< ready, but only finish() may send it
  std::unique_ptr<GradientBuckets> buckets_;
};

}  // namespace selvage::sgd
