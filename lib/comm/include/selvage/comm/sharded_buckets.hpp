#pragma once

#include <selvage/comm/gradient_buckets.hpp>

#include <utility>
#include <vector>

namespace selvage {

/// GradientBuckets whose optimizer is sharded: each rank updates a part of the parameters, and keeps the optimizer's state
/// of that part only. As soon as the last gradient of a bucket is ready, the bucket's gradients are reduced and
/// scattered, the caller's update runs on this rank's shards, and the new parameters are gathered on all ranks; all of
/// that while later gradients are still being computed.
///
/// From ready() until finish() neither the gradient nor its parameter may be read or written. After that all ranks hold all
/// new parameters, and of the gradients each holds the reduced ones of its shards; the others are as ready() found them.
/// Gradients are combined to the same bits as by GradientBuckets, so that an update that looks at each element for itself
/// gives the bits of an update of everything on every rank.
///
/// Source: Rajbhandari et al., ZeRO (SC 2020), stage 1, in buckets.
class ShardedBuckets : public GradientBuckets {
 public:
  /// Collective over the context's communicator.
  /// \param gradients   as for GradientBuckets
  /// \param parameters  by gradient: contiguous Views of as many elements, all of one type, in the space's memory
  /// \param update      void(const Space& instance, int gradient, const ElementRange& shard): enqueues on the instance what
  ///                    updates these elements of the parameter from those of the gradient. Called in ready() and finish(),
  ///                    for the same shards in every step from the first on. Must not throw
  /// \throws Error{usage} as GradientBuckets, and for parameters that don't fit the gradients
  template <class Space, class View, class ParameterView, class Update>
  ShardedBuckets(const Space& space, const Context& context, const Options& options,
                 const std::vector<View>& gradients, const std::vector<ParameterView>& parameters,
                 Update update)
      : GradientBuckets(space, context, options, describe_all(gradients), describe_all(parameters),
                        std::move(update)) {
    static_assert(Kokkos::SpaceAccessibility<Space, typename View::memory_space>::accessible &&
                      Kokkos::SpaceAccessibility<Space, typename ParameterView::memory_space>::accessible,
                  "the execution space can't reach the Views' memory space");
  }
};

}  // namespace selvage
