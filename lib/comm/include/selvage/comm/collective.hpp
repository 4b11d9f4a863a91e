#pragma once

#include <selvage/comm/allreduce_options.hpp>
#include <selvage/comm/context.hpp>
#include <selvage/comm/detail/describe_elements.hpp>
#include <selvage/comm/detail/device_of.hpp>
#include <selvage/comm/detail/device_scope.hpp>
#include <selvage/comm/detail/executor.hpp>
#include <selvage/comm/detail/flow.hpp>
#include <selvage/comm/detail/kokkos_executor.hpp>
#include <selvage/comm/detail/pending_epoch.hpp>
#include <selvage/comm/elements.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace selvage {

namespace detail {
class CollectivePlan;
}  // namespace detail

/// What moves or combines the elements of one View of each rank of a Context: what Allreduce, ReduceScatter,
/// AllGather, Reduce and Broadcast have in common.
///
/// Plan once, run many: the constructor chooses an algorithm, allocates and maps; run() does none of that. Each has one
/// operation in flight; several may overlap. All ranks start and finish theirs in the same order. After a time-out it can't go on: later
/// calls throw Error{usage} that repeats it. On GPUs ranks destroy theirs in the same order: the destructor waits, for a second at
/// most, for that of the other ranks, which map the memory. Not thread-safe. The View (or OffsetView) must stay allocated, at the
/// same address, as long as this lives. Those of Grid::allocate or Context::allocate_shared pass without a copy between ranks of one
/// host.
class Collective {
 public:
  /// A started operation. Give it to finish(), exactly once.
  using Pending = detail::PendingEpoch<Collective>;

  /// Ordered after what `space` was given before, and before what it is given next. Blocks until done on host
  /// spaces.
  /// \throws Error{timeout} that names the late rank, the epoch wanted and the epoch seen
  template <class Space>
  void run(const Space& space) {
    finish(space, start(space));
  }
  /// Out of place: the View that this was made for first becomes a copy of `input`, which stays as it is.
  /// \param input  a contiguous View, or one of const values, of as many values of the same type
  /// \throws Error{usage} for any other, for one that shares memory with the View without being it, and while an operation is in
  ///         flight: the View is then as it was; as run(space)
  template <class Space, class Input>
  void run(const Space& space, const Input& input) {
    static_assert(Kokkos::SpaceAccessibility<Space, typename Input::memory_space>::accessible,
                  "the execution space can't reach the input's memory space");
    using Bytes =
        Kokkos::View<unsigned char*, typename Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    const detail::Elements from = detail::describe_values(input);
    const detail::Elements& to = elements_to_fill(from);
    const auto bytes = static_cast<std::size_t>(to.count) * element_bytes(to.type);
    const auto of = [bytes](std::byte* data) { return Bytes(reinterpret_cast<unsigned char*>(data), bytes); };
    {
      const detail::DeviceScope scope(detail::device_of(space));
      Kokkos::deep_copy(space, of(to.data), of(from.data));
    }
    run(space);
  }
  /// Starts the operation: makes this rank's elements available to the others. Never waits for another rank. Until
  /// finish() the View must be neither read nor written.
  template <class Space>
  [[nodiscard]] Pending start(const Space& space) {
    detail::KokkosExecutor<Space> executor(space);
    return Pending(plan_.get(), start_on(executor));
  }
  /// What `space` is given next sees the result; blocks until done on host spaces.
  /// \throws as run()
  template <class Space>
  void finish(const Space& space, Pending&& pending) {
    detail::KokkosExecutor<Space> executor(space);
    finish_on(executor, pending.take(plan_.get()));
  }

  /// Throws what the device found while it waited; see HaloExchange::check.
  void check() const;
  /// What was forced or chosen.
  [[nodiscard]] AllreduceAlgorithm algorithm() const;
  /// The algorithm, and why: what forces it, which row of which table, or the built-in rule.
  [[nodiscard]] std::string explain() const;
  /// Bytes that this rank has sent to ranks of other hosts so far.
  [[nodiscard]] std::int64_t bytes_between_hosts() const;

 protected:
  template <class Space, class View>
  Collective(const Space& space, const Context& context, const AllreduceOptions& options, const View& view,
             const detail::Flow& flow)
      : plan_(make_plan(detail::KokkosExecutor<Space>(space), context, options,
                        detail::describe_values_in_place(view), flow)) {
    static_assert(Kokkos::SpaceAccessibility<Space, typename View::memory_space>::accessible,
                  "the execution space can't reach the View's memory space");
  }
  Collective(Collective&&) noexcept;
  Collective& operator=(Collective&&) noexcept;
  ~Collective();

  [[nodiscard]] ElementRange part_of_rank(int rank) const;

 private:
  static std::shared_ptr<detail::CollectivePlan> make_plan(const detail::Executor& executor,
                                                           const Context& context,
                                                           const AllreduceOptions& options,
                                                           const detail::Elements& elements,
                                                           const detail::Flow& flow);
  /// The View's, which a copy of `input` may overwrite now.
  [[nodiscard]] const detail::Elements& elements_to_fill(const detail::Elements& input) const;
  std::uint64_t start_on(detail::Executor& executor);
  void finish_on(detail::Executor& executor, std::uint64_t epoch);

  std::shared_ptr<detail::CollectivePlan> plan_;
};

}  // namespace selvage
