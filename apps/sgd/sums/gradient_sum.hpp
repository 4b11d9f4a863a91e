#pragma once

#include "sgd/cli/settings.hpp"
#include "sgd/model/model.hpp"
#include "sgd/sums/fixed_point.hpp"
#include "sgd/sums/mappable_vector.hpp"
#include "sgd/sums/tiled_sum.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/comm/sharded_buckets.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace selvage::sgd {

/// The gradients of a batch: those of a rank's grains are added up, and buckets of them over the ranks as soon as they are
/// complete.
///
/// Ordered, grains are added in fixed point, which takes twice the bytes of fp32 on the wire, and a product per grain
/// instead of one per rank; any number of ranks gives the same bits. Fast, a rank has one grain and sums are fp32.
///
/// Sharded, a rank gets a part of a bucket's sums, has its parameters updated, and all ranks get all parameters.
class GradientSum {
 public:
  /// What a sharded sum calls, on the instance that it is given: sums by parameter [begin, begin + count) are in values.
  struct Sharding {
    Vector<float> parameters;  ///< of all tensors
    std::function<void(const Space& instance, std::int64_t begin, std::int64_t count)> update;
  };
  /// Where sums go and what else they need.
  struct Plan {
    std::vector<Tensor> tensors;
    std::size_t first_of_last_layer;  ///< among tensors, for tiles
    std::optional<Sharding> sharding = {};
  };
  /// Collective over the context's communicator.
  GradientSum(const Space& space, const Context& context, const Settings& settings, const Plan& plan);

  /// As given.
  [[nodiscard]] const std::vector<Tensor>& tensors() const { return tensors_; }
  /// Where a grain's gradients of all tensors go before add().
  [[nodiscard]] const Vector<float>& grain() const { return grain_; }

  /// Forgets the last batch.
  void begin(const Space& space);
  /// Adds the grain's gradient by one tensor; marks the tensor in the step's figures where an element has no place in the
  /// sum: NaN, infinite or too large.
  void add(const Space& space, std::size_t tensor, const StepFigures& figures);
  /// Whether the last layer's gradients go by add_last_layer(), and by neither add() nor ready().
  [[nodiscard]] bool has_tiles() const { return tiles_.has_value(); }
  /// Adds the grain's gradients by the last layer. \param is_last  none of this rank's is left: sums may leave
  void add_last_layer(const Space& space, const StepFigures& figures, bool is_last) {
    tiles_->add(space, figures, is_last);
  }
  /// No grain of this rank is left for the tensor: its sum may leave. Without overlap, it waits for finish().
  /// This, finish() and check() \throw Error{timeout} that names a late rank and the tensors of the bucket
  void ready(const Space& space, std::size_t tensor);
  /// What `space` is given next sees sums over all ranks by parameter from the result on, though not yet those before:
  /// they travel in the last bucket. finish() comes later. Collective. \return a tensor's begin, or the end of all where
  /// nothing is to be had before finish(): one bucket, tiles, or a sharded sum
  [[nodiscard]] std::int64_t finish_all_but_last(const Space& space);
  /// What `space` is given next sees sums over all ranks in values(). Collective.
  void finish(const Space& space);
  [[nodiscard]] bool is_sharded() const { return sharding_.has_value(); }
  /// How the last layer's tiles travel; empty without them.
  [[nodiscard]] std::string explain_tiles() const { return tiles_ ? tiles_->explain() : ""; }

  /// Throws what a GPU found while it waited for other ranks.
  void check() const;
  /// Whether a step can be captured in a graph, once one step is finished: no bucket needs the host.
  [[nodiscard]] bool can_be_captured() const;

  [[nodiscard]] bool ordered() const { return ordered_; }
  /// The sums, by parameter: fixed point where ordered, else real.
  [[nodiscard]] const Vector<std::int64_t>& fixed() const { return fixed_; }
  [[nodiscard]] const Vector<float>& real() const { return grain_; }

  /// How each bucket is summed up, and why; empty before the first step is finished.
  [[nodiscard]] std::string explain_buckets() const { return buckets_->explain(); }
  /// Of the step that was finished last, by bucket.
  [[nodiscard]] std::vector<GradientBuckets::Report> report() const { return buckets_->report(); }

 private:
  void make_buckets(const Space& space, const Context& context, const Settings& settings,
                    int multiprocessors);
  template <class T>
  [[nodiscard]] GradientBuckets buckets_of(const Space& space, const Context& context,
                                           const GradientBuckets::Options& options,
                                           const Vector<T>& values) const;
  /// Runs what may wait for other ranks.
  template <class Work>
  void naming_tensors(const Work& work) const;
  [[nodiscard]] std::string tensors_of(const GradientBuckets::Report& bucket) const;
  [[nodiscard]] std::int64_t end() const { return tensors_.back().begin + tensors_.back().count; }
  void send_held_back(const Space& space);

  bool ordered_;
  bool overlap_;
  std::vector<Tensor> tensors_;
  std::size_t bucketed_;  ///< tensors that go by buckets: the first ones
  std::optional<Sharding> sharding_;
  std::vector<std::shared_ptr<void>> memory_;  ///< of the two, where ranks map them
  Vector<float> grain_;
  Vector<std::int64_t> fixed_;  ///< empty unless ordered
  std::optional<TiledSum> tiles_;
  std::vector<std::size_t> held_back_;  ///< ready, but only finish() may send it
  std::unique_ptr<GradientBuckets> buckets_;
  std::vector<std::string> bucket_tensors_;  ///< by bucket, once these are made
};

}  // namespace selvage::sgd
