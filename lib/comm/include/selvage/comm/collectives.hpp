#pragma once

#include <selvage/comm/collective.hpp>

namespace selvage {

// Between ranks of one host these are two_shot's halves; AllreduceAlgorithm::mpi makes them everywhere. Of
// AllreduceOptions the algorithm and max_blocks count, and the operation where elements are combined.
// Source: Faraji, thesis ch. 3 (Reduce and Bcast), without a root's buffer.

/// Combines all ranks' elements, as Allreduce does and with the same bits, and leaves each rank with its part of the
/// result. The other parts of its View keep what they held.
class ReduceScatter : public Collective {
 public:
  /// As Allreduce's constructor.
  template <class Space, class View>
  ReduceScatter(const Space& space, const Context& context, const View& view,
                const AllreduceOptions& options = {})
      : Collective(space, context, options, view, {detail::CollectiveKind::reduce_scatter}) {}

  /// The elements of a rank's part: whole runs of 64 but for the last, as even as that allows; empty for some ranks of
  /// short Views.
  /// \throws Error{usage} for a rank that isn't there
  [[nodiscard]] ElementRange part(int rank) const { return part_of_rank(rank); }
};

/// Gives every rank's part of its View to all ranks. Bits are copied.
class AllGather : public Collective {
 public:
  /// As Allreduce's constructor.
  template <class Space, class View>
  AllGather(const Space& space, const Context& context, const View& view,
            const AllreduceOptions& options = {})
      : Collective(space, context, options, view, {detail::CollectiveKind::all_gather}) {}

  /// The elements of a rank's part: whole runs of 64 but for the last, as even as that allows; empty for some ranks of
  /// short Views.
  /// \throws Error{usage} for a rank that isn't there
  [[nodiscard]] ElementRange part(int rank) const { return part_of_rank(rank); }
};

/// Combines all ranks' elements, as Allreduce does and with the same bits, at one rank. The other Views keep what they
/// held.
class Reduce : public Collective {
 public:
  /// As Allreduce's constructor.
  /// \param root  a rank of the context, the same on all
  template <class Space, class View>
  Reduce(const Space& space, const Context& context, const View& view, int root,
         const AllreduceOptions& options = {})
      : Collective(space, context, options, view, {detail::CollectiveKind::reduce, root}) {}
};

/// Gives one rank's elements to all. Bits are copied.
class Broadcast : public Collective {
 public:
  /// As Allreduce's constructor.
  /// \param root  a rank of the context, the same on all
  template <class Space, class View>
  Broadcast(const Space& space, const Context& context, const View& view, int root,
            const AllreduceOptions& options = {})
      : Collective(space, context, options, view, {detail::CollectiveKind::broadcast, root}) {}
};

}  // namespace selvage
