#pragma once

#include <selvage/comm/allreduce_options.hpp>
#include <selvage/comm/detail/describe_view.hpp>
#include <selvage/comm/detail/executor.hpp>
#include <selvage/comm/detail/kokkos_executor.hpp>
#include <selvage/comm/detail/operations.hpp>
#include <selvage/comm/detail/pending_epoch.hpp>
#include <selvage/comm/grid.hpp>
#include <selvage/comm/halo_port.hpp>
#include <selvage/comm/options.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace selvage {

namespace detail {
class HaloPlan;
struct RawHalo;
}  // namespace detail

/// Fills the ghost cells of distributed Views from the ranks that own them.
///
/// Plan once, run many: the constructor decides a transport per neighbour, allocates and maps; `exchange`
/// does none of that. One HaloExchange has one exchange in flight at a time; several HaloExchanges may
/// overlap. All ranks call the same operations of one HaloExchange in the same order, and finish overlapping
/// ones in one order: what a rank could not send in start() yet, it sends in finish(). Not thread-safe.
///
/// A View's extents are its rank's box plus the ghost width on each side, and, at rank D+1, any number of
/// components last. Any layout, sub-Views with an offset and Kokkos' OffsetViews included. Views of Grid::allocate move
/// without a copy (`peer`) between ranks of one host; other host memory works through MPI, and explain() says so. The
/// Views must stay allocated, at the same address, as long as the HaloExchange lives.
///
/// Source: Chu et al., "Zero-copy Datatype Transfer" and "One-shot Packing/Unpacking", for `peer`; LeBeane, thesis ch. 6,
/// for who starts. Layouts are flattened to strided boxes when a plan is made; credits and epochs are this project's.
class HaloExchange {
 public:
  /// A started exchange. Give it to finish(), exactly once.
  using Pending = detail::PendingEpoch<HaloExchange>;

  /// Collective over the grid's communicator; all ranks pass the same options and as many Views, in the
  /// same order.
  /// \param space  where packing runs; the instance is only used during the call
  /// \param views  those that exchange() will be given later, one or several at a time (64 at most)
  /// \throws Error{usage} on every rank: extents that don't fit the grid, halos wider than a box, arguments
  ///         that differ between ranks; Error{unsupported}: a forced transport or initiation that isn't
  ///         possible, and why
  template <class Space, int D, class... Views>
  HaloExchange(const Space& space, const Grid<D>& grid, const HaloOptions<D>& options, const Views&... views)
      : plan_(make_plan(detail::KokkosExecutor<Space>(space), grid, options,
                        std::vector<detail::Field>{detail::describe_view(views)...})) {
    require_views<Space, Views...>();
    static_assert(
        ((detail::PlainView<Views>::rank() == D || detail::PlainView<Views>::rank() == D + 1) && ...),
        "a View needs the grid's number of axes, or one more for components");
  }
  HaloExchange(HaloExchange&&) noexcept;
  HaloExchange& operator=(HaloExchange&&) noexcept;
  /// On GPUs it waits up to a second for the other ranks: destroy objects in the same order on all of them.
  ~HaloExchange();

  /// Fills the ghosts of `views`, ordered after what `space` was given before, and before what it is given
  /// next. On host spaces it returns when the ghosts are filled.
  /// \throws Error{timeout} that names the late rank, the epoch wanted and the epoch seen; Error{usage} for a View that the
  /// constructor wasn't given, and while an exchange is in flight
  template <class Space, class... Views>
  void exchange(const Space& space, const Views&... views) {
    detail::KokkosExecutor<Space> executor(space);
    exchange_fields(executor, select(views...));
  }

  /// Starts an exchange: sends the owned cells that neighbours keep as ghosts. Until finish(), owned cells within the ghost
  /// width of a boundary must not be written, and ghosts must not be read. Never waits for another rank.
  /// \throws Error{usage} as exchange(). A Pending that is never finished stays in flight
  template <class Space, class... Views>
  [[nodiscard]] Pending start(const Space& space, const Views&... views) {
    detail::KokkosExecutor<Space> executor(space);
    return Pending(plan_.get(), start_fields(executor, select(views...)));
  }
  /// Ghosts are filled, and cells may be written again, when it returns (host spaces), or before what `space` is given
  /// next.
  /// \throws as exchange()
  template <class Space>
  void finish(const Space& space, Pending&& pending) {
    detail::KokkosExecutor<Space> executor(space);
    finish_fields(executor, pending.take(plan_.get()));
  }

  /// The reverse: folds the ghosts' values into the cells they are ghosts of, `owned = operation(owned,
  /// ghost)`, neighbour by neighbour in an order that depends on the grid alone, so that the bits don't
  /// depend on transport or timing. Ghosts keep their values. Blocks until done on host spaces.
  /// \param operation  sum, product, min or max
  /// \throws Error{usage}: average, or min and max of values without an order; as exchange()
  template <class Space, class View>
  void reduce(const Space& space, ReduceOperation operation, const View& view) {
    detail::with_operation<std::remove_const_t<typename View::value_type>>(
        operation, [&](const auto& combine) { reduce(space, combine, view); });
  }
  /// The same by an operation of the caller's.
  /// \param operation  `T operator()(const T& owned, const T& ghost) const`, for GPUs marked KOKKOS_FUNCTION
  template <class Space, class Operation, class View>
  requires(!std::is_same_v<Operation, ReduceOperation>) void reduce(const Space& space,
                                                                    const Operation& operation,
                                                                    const View& view) {
    detail::KokkosExecutor<Space> executor(space);
    detail::KokkosCombiner<Space, typename View::value_type, Operation> combiner(space, operation);
    reduce_field(executor, combiner, select(view));
  }

  /// Puts other Views in the place of those that it was made for: such that the constructor would take, in the same order, reallocated
  /// arrays for instance. Neighbours and options stay; a message tells each neighbour where the new Views lie. Collective; no exchange
  /// may be in flight. CUDA graphs that captured exchanges of the Views before must not be launched any more.
  /// \throws Error{usage} on every rank: what the constructor says, and then the Views stay those from before; an exchange in flight;
  ///         a HaloPort, which holds addresses
  template <class Space, class... Views>
  void rebind(const Space& space, const Views&... views) {
    require_views<Space, Views...>();
    const detail::KokkosExecutor<Space> executor(space);
    rebind_fields(executor, std::vector<detail::Field>{detail::describe_view(views)...});
  }

  /// The handle for kernels that send their own boundary; see HaloPort. Collective: make it once and keep it.
  /// Launch the kernels of one port on one execution space instance, one after the other; exchange() may be called between two
  /// launches. With GhostReuse::alternating the ghosts that it brings must not be in use any more when the next launch puts the same
  /// View.
  /// \param views  numbered from 0 in this order; with GhostReuse::alternating, those that alternate
  /// \throws Error{unsupported} for a grid of boxes, see Grid::has_process_grid(); where a neighbour's memory can't be mapped and the
  ///         proxy has no thread to reach it: no MPI_THREAD_MULTIPLE, SELVAGE_PROXY=caller, or ContextOptions::service_threads
  template <class Space, class... Views>
  [[nodiscard]] HaloPort device(const Space& space, const Views&... views) {
    detail::KokkosExecutor<Space> executor(space);
    const std::array<const std::byte*, sizeof...(Views)> addresses{view_address(views)...};
    return make_port(executor, addresses);
  }
  /// Enqueues a wait until all ghosts hold what the neighbours put in the last launch that closed. For kernels
  /// that can't wait themselves, because not all teams of their league are resident at once or ranks share a GPU.
  template <class Space>
  void await(const Space& space, const HaloPort& port) const {
    const detail::DeviceScope scope(detail::device_of(space));
    Kokkos::parallel_for("comm::await", Kokkos::TeamPolicy<Space>(space, 1, 1), detail::AwaitGhosts{port});
  }

  /// Call it before exchanges of `views` are captured in a CUDA graph (then_exchange() does): what they need is
  /// made here, since a capture forbids that. Kernels load when they are first launched, which a capture may
  /// forbid too, so exchange these Views once before. Not collective.
  /// \throws Error{unsupported} where an exchange can't be captured: only the stream initiation of the
  ///         transports peer and copy_engine can; what check() throws
  template <class... Views>
  void prepare_capture(const Views&... views) {
    prepare_fields(select(views...));
  }

  /// Throws what the device found while it waited for earlier exchanges: a kernel can't throw, so a late
  /// peer is reported here and by the next start(). To learn of it earlier, fence and call check(). Does nothing
  /// on host spaces.
  /// \throws Error{timeout}, Error{usage} as exchange()
  void check() const;
  /// Whether an exchange, reduction or check() has thrown because of another rank, MPI or a device. It stays so, and further
  /// exchanges throw Error{usage} that repeats the cause: neighbours may hold part of what was sent. Make a new Context.
  /// Kernels' failures show in check().
  [[nodiscard]] bool failed() const;
  /// Per neighbour: transport, initiation, bytes, and why; then, for each port of device(), who is reached
  /// directly, who by proxy, and why.
  [[nodiscard]] std::string explain() const;
  /// Bytes that this rank sends in an exchange of all Views; this rank's own periodic copies not counted.
  [[nodiscard]] std::int64_t bytes_per_exchange() const;

 private:
  /// The C interface, whose fields have no type.
  friend struct detail::RawHalo;
  explicit HaloExchange(std::shared_ptr<detail::HaloPlan> plan) : plan_(std::move(plan)) {}

  template <class Space, class... Views>
  static void require_views() {
    static_assert(sizeof...(Views) >= 1, "name the Views that this HaloExchange will exchange");
    static_assert((Kokkos::SpaceAccessibility<Space, typename Views::memory_space>::accessible && ...),
                  "the execution space can't reach a View's memory space");
  }
  template <int D>
  static std::shared_ptr<detail::HaloPlan> make_plan(const detail::Executor& executor, const Grid<D>& grid,
                                                     const HaloOptions<D>& options,
                                                     std::vector<detail::Field> fields);

  /// The bit set of the planned fields that `views` are. \throws Error{usage} for one that wasn't planned
  template <class... Views>
  [[nodiscard]] std::uint64_t select(const Views&... views) const {
    return (std::uint64_t{0} | ... | field_bit(view_address(views)));
  }
  template <class View>
  static const std::byte* view_address(const View& view) {
    return reinterpret_cast<const std::byte*>(view.data());
  }

  [[nodiscard]] std::uint64_t field_bit(const std::byte* address) const;
  void rebind_fields(const detail::Executor& executor, std::vector<detail::Field> fields);
  void exchange_fields(detail::Executor& executor, std::uint64_t fields);
  std::uint64_t start_fields(detail::Executor& executor, std::uint64_t fields);
  void finish_fields(detail::Executor& executor, std::uint64_t epoch);
  [[nodiscard]] HaloPort make_port(detail::Executor& executor, std::span<const std::byte* const> addresses);
  void prepare_fields(std::uint64_t fields);
  void reduce_field(detail::Executor& executor, detail::Combiner& combiner, std::uint64_t fields);

  std::shared_ptr<detail::HaloPlan> plan_;  // shared only so that its type may stay incomplete here
};

}  // namespace selvage
