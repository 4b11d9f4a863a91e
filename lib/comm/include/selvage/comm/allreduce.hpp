#pragma once

#include <selvage/comm/allreduce_options.hpp>
#include <selvage/comm/context.hpp>
#include <selvage/comm/detail/executor.hpp>
#include <selvage/comm/detail/field.hpp>
#include <selvage/comm/detail/kokkos_executor.hpp>
#include <selvage/comm/element_types.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace selvage {

namespace detail {
class AllreducePlan;

/// A contiguous View as the elements it holds.
struct Elements {
  std::string label;
  std::byte* data = nullptr;
  std::int64_t count = 0;
  ElementType type = ElementType::fp64;
  MemoryKind memory = MemoryKind::host;
};

template <class View>
Elements describe_elements(const View& view) {
  using Value = typename View::non_const_value_type;
  static_assert(Kokkos::is_view_v<View>, "selvage reduces Kokkos::Views");
  static_assert(!std::is_const_v<typename View::value_type>,
                "a reduction in place needs a View that it can write");
  static_assert(ElementTypeOf<Value>::is_known,
                "elements can be double, float, selvage::Half, selvage::Bfloat16, Kokkos' half types, "
                "int32_t or int64_t");
  return {.label = view.label(),
          .data = reinterpret_cast<std::byte*>(view.data()),
          .count = view.span_is_contiguous() ? static_cast<std::int64_t>(view.size()) : -1,
          .type = ElementTypeOf<Value>::value,
          .memory = memory_kind<View>()};
}
}  // namespace detail

/// Combines a View's elements over all ranks of a Context, in place: afterwards every rank holds
/// `operation(rank 0's, rank 1's, ...)` of each element.
///
/// Plan once, run many: the constructor chooses an algorithm, allocates and maps; run() does none of that. Elements
/// are combined in rank order, 16-bit ones in fp32, and rounded once, so that the bits depend on neither algorithm
/// nor size nor timing, and are the same on all ranks. AllreduceOptions::fast allows another order, on which they depend.
///
/// One Allreduce has one reduction in flight; several may overlap. All ranks start and finish theirs in the same
/// order. Not thread-safe. The View must stay allocated, at the same address, as long as the Allreduce lives. Those of
/// Grid::allocate or Context::allocate_shared are combined without a copy between ranks of one host.
///
/// Source: Faraji, thesis ch. 3 and 4; Temucin et al. (Selvage mechanisms B1 to B5, B7), with epochs
/// for their toggled flags.
class Allreduce {
 public:
  /// A started reduction. Give it to finish(), exactly once.
  class [[nodiscard]] Pending {
   public:
    Pending(Pending&& other) noexcept : epoch_(std::exchange(other.epoch_, 0)) {}
    Pending& operator=(Pending&& other) noexcept {
      epoch_ = std::exchange(other.epoch_, 0);
      return *this;
    }

   private:
    friend class Allreduce;
    explicit Pending(std::uint64_t epoch) : epoch_(epoch) {}
    std::uint64_t epoch_;
  };

  /// Collective over the context's communicator.
  /// \param space  the instance is only used during the call
  /// \param view   of any rank, contiguous, with the same number of elements (0 or more) and type on all ranks
  /// \throws Error{usage} on every rank, for a View with gaps, and elements or options that differ between ranks;
  ///         Error{unsupported}: a forced algorithm that isn't possible, and why; Error{input}: a table named by
  ///         SELVAGE_ALLREDUCE_TABLE that can't be read, unless an algorithm is forced
  template <class Space, class View>
  Allreduce(const Space& space, const Context& context, const AllreduceOptions& options, const View& view)
      : plan_(make_plan(detail::KokkosExecutor<Space>(space), context, options,
                        detail::describe_elements(view))) {
    static_assert(Kokkos::SpaceAccessibility<Space, typename View::memory_space>::accessible,
                  "the execution space can't reach the View's memory space");
  }
  Allreduce(Allreduce&&) noexcept;
  Allreduce& operator=(Allreduce&&) noexcept;
  ~Allreduce();

  /// Ordered after what `space` was given before, and before what it is given next. Blocks until done on host
  /// spaces.
  /// \throws Error{timeout} that names the late rank, the epoch wanted and the epoch seen
  template <class Space>
  void run(const Space& space) {
    finish(space, start(space));
  }
  /// Shows this rank's elements to the others as far as that needs no waiting. Until finish() the View must be
  /// neither read nor written.
  template <class Space>
  [[nodiscard]] Pending start(const Space& space) {
    detail::KokkosExecutor<Space> executor(space);
    return Pending(start_on(executor));
  }
  template <class Space>
  void finish(const Space& space, Pending&& pending) {
    detail::KokkosExecutor<Space> executor(space);
    finish_on(executor, std::exchange(pending.epoch_, 0));
  }

  /// Throws what the device found while it waited; see HaloExchange::check.
  void check() const;
  [[nodiscard]] AllreduceAlgorithm algorithm() const;
  /// The algorithm, and why: what forces it, which row of which table, or the built-in rule.
  [[nodiscard]] std::string explain() const;
  /// Bytes that this rank has sent to ranks of other hosts so far.
  [[nodiscard]] std::int64_t bytes_between_hosts() const;

 private:
  static std::shared_ptr<detail::AllreducePlan> make_plan(const detail::Executor& executor,
                                                          const Context& context,
                                                          const AllreduceOptions& options,
                                                          const detail::Elements& elements);
  std::uint64_t start_on(detail::Executor& executor);
  void finish_on(detail::Executor& executor, std::uint64_t epoch);

  std::shared_ptr<detail::AllreducePlan> plan_;
};

}  // namespace selvage
