#pragma once

#include <selvage/comm/collectives.hpp>
#include <selvage/comm/detail/device_of.hpp>
#include <selvage/comm/detail/device_scope.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace selvage {

namespace detail {

/// The bytes of one rank in the gathered View, rounded up so that AllGather cuts it into equal parts, one per rank.
[[nodiscard]] constexpr std::int64_t padded_bytes(std::int64_t bytes) {
  constexpr std::int64_t part = 64;
  return (bytes + part - 1) / part * part;
}

/// Collective. \throws Error{usage} that names two ranks whose number of values, or their size in bytes, differs
void require_same_values(const Context& context, std::string_view label, std::int64_t count,
                         std::int64_t bytes_per_value);

template <class T>
struct CopyValues {
  const T* from;
  T* to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { to[i] = from[i]; }
};
template <class T, class Operation>
struct CombineValues {
  const unsigned char* gathered;
  std::int64_t bytes_per_rank;
  int ranks;
  T* result;
  Operation operation;

  KOKKOS_INLINE_FUNCTION const T& of(int rank, std::int64_t i) const {
    return reinterpret_cast<const T*>(gathered + rank * bytes_per_rank)[i];
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    T combined = of(0, i);
    for (int rank = 1; rank < ranks; ++rank) combined = operation(combined, of(rank, i));
    result[i] = combined;
  }
};

}  // namespace detail

/// An allreduce by an operation of the caller's, in place: afterwards every rank holds
/// `operation(operation(rank 0's, rank 1's), rank 2's)`, and so on, of each value. Values may be of any trivially copyable type, such
/// as a number and where it was found. The operation need be neither commutative nor associative, and gives the same bits on all ranks.
///
/// For few values: each rank gathers those of all ranks, and combines them itself. For numbers and the operations of ReduceOperation
/// take Allreduce.
///
/// As of Allreduce: the View must stay allocated as long as this lives, all ranks make their calls in the same order, not thread-safe.
/// \tparam Operation  `T operator()(const T& lower, const T& higher) const`, for GPUs marked KOKKOS_FUNCTION
template <class View, class Operation>
class CustomAllreduce {
 public:
  using Value = typename View::non_const_value_type;
  static_assert(std::is_trivially_copyable_v<Value>, "values travel as bytes");
  static_assert(alignof(Value) <= 64, "each rank's values begin at a multiple of 64 bytes");
  static_assert(!std::is_const_v<typename View::value_type>,
                "an allreduce in place needs a View that it can write");

  /// Collective over the context's communicator.
  /// \param view     of any rank, contiguous, with the same number of values (0 or more) on all ranks
  /// \param options  how values are gathered: of these the algorithm and max_blocks count
  /// \throws Error{usage} on every rank, for a View with gaps, and numbers or sizes of values that differ between ranks;
  ///         Error{unsupported}: a forced algorithm that isn't possible, and why
  template <class Space>
  CustomAllreduce(const Space& space, const Context& context, const View& view, Operation operation,
                  const AllreduceOptions& options = {})
      : view_(view),
        operation_(std::move(operation)),
        rank_(context.rank()),
        ranks_(context.size()),
        bytes_per_rank_(detail::padded_bytes(checked_bytes(context, view))),
        gathered_(Kokkos::view_alloc(space, "values of all ranks"),
                  static_cast<std::size_t>(bytes_per_rank_ * ranks_)),
        gather_(space, context, gathered_, options) {
    static_assert(Kokkos::SpaceAccessibility<Space, typename View::memory_space>::accessible,
                  "the execution space can't reach the View's memory space");
  }

  /// Ordered after what `space` was given before, and before what it is given next. Blocks until done on host spaces.
  /// \throws as Collective::run
  template <class Space>
  void run(const Space& space) {
    if (ranks_ == 1) return;
    const detail::DeviceScope scope(detail::device_of(space));
    const Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>> all(
        space, 0, static_cast<std::int64_t>(view_.size()));
    auto* const own = reinterpret_cast<Value*>(gathered_.data() + rank_ * bytes_per_rank_);
    Kokkos::parallel_for("selvage::custom_allreduce::copy", all,
                         detail::CopyValues<Value>{view_.data(), own});
    gather_.run(space);
    Kokkos::parallel_for("selvage::custom_allreduce::combine", all,
                         detail::CombineValues<Value, Operation>{gathered_.data(), bytes_per_rank_, ranks_,
                                                                 view_.data(), operation_});
  }
  /// Throws what the device found while it waited; see HaloExchange::check.
  void check() const { gather_.check(); }
  /// By which algorithm values are gathered, and why.
  [[nodiscard]] std::string explain() const { return gather_.explain(); }

 private:
  static std::int64_t checked_bytes(const Context& context, const View& view) {
    const std::int64_t count = view.span_is_contiguous() ? static_cast<std::int64_t>(view.size()) : -1;
    detail::require_same_values(context, view.label(), count, sizeof(Value));
    return count * static_cast<std::int64_t>(sizeof(Value));
  }

  View view_;
  Operation operation_;
  int rank_;
  int ranks_;
  std::int64_t bytes_per_rank_;
  Kokkos::View<unsigned char*, typename View::memory_space> gathered_;
  AllGather gather_;
};

}  // namespace selvage
