#pragma once

#include <selvage/comm/collective.hpp>

namespace selvage {

/// Combines a View's elements over all ranks of a Context, in place or from another View: afterwards every rank holds
/// `operation(rank 0's, rank 1's, ...)` of each element.
///
/// Elements are combined in rank order, 16-bit floats in fp32, and rounded once, so that the bits depend on neither
/// algorithm nor size nor timing, and are the same on all ranks; of several NaNs they are those of any one. AllreduceOptions::allow_reordering allows another order, on which
/// they depend.
///
/// Values: double, float, 16-bit floats (Half, Bfloat16, Kokkos' own), integers of 8 to 64 bits, and complex numbers of double or
/// float (Kokkos' and std's). Complex numbers have sum and average. CustomAllreduce takes other values and operations, GradientBuckets
/// several Views.
///
/// Source: Faraji, thesis ch. 3 and 4; Temucin et al. (B1 to B5, B7 in docs/mechanisms.md), with epochs
/// for their toggled flags.
class Allreduce : public Collective {
 public:
  /// Collective over the context's communicator.
  /// \param space  the instance is only used during the call
  /// \param view   of any rank, contiguous, with the same number of elements (0 or more) and type on all ranks
  /// \throws Error{usage} on every rank, for a View with gaps, and elements or options that differ between ranks;
  ///         Error{unsupported}: an operation that the values don't have, or a forced algorithm that isn't possible, and why;
  ///         Error{input}: a table named by SELVAGE_ALLREDUCE_TABLE that can't be read, unless an algorithm is forced
  template <class Space, class View>
  Allreduce(const Space& space, const Context& context, const View& view,
            const AllreduceOptions& options = {})
      : Collective(space, context, options, view, {detail::CollectiveKind::allreduce}) {}
};

}  // namespace selvage
