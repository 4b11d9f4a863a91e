#pragma once

#include <selvage/comm/context.hpp>
#include <selvage/comm/detail/kokkos_list_mover.hpp>
#include <selvage/comm/detail/kokkos_list_source.hpp>
#include <selvage/comm/list_port.hpp>
#include <selvage/comm/options.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace selvage {

namespace detail {
class ListPlan;
}

/// Copies of particles, or of a graph's nodes, on the ranks that need them: the halo of unstructured codes.
///
/// A rank owns the first `owned` particles of its Views; ghosts lie behind them. Its list names, entry by entry, an
/// owned particle and a rank that gets a ghost of it. A particle may be named for many ranks, for one rank several
/// times, and for this rank itself (periodic images). Ghosts are ordered by the rank that owns them, this rank
/// among them, and then as in that rank's list; so the ghost of an entry stays where it is until the next rebuild.
///
/// One message, or one store into shared memory, per rank and call: nothing is forwarded from rank to rank, no call but
/// rebuild() is collective, and all fields of a call travel together. All ranks that share ghosts, or name each other as
/// neighbours, make the same calls in the same order, with fields of the same sizes; others may be ahead. One operation is in
/// flight at a time. After an error the ListHalo can't go on: end, or make a new one. Not thread-safe.
///
/// Source: LeBeane, 6.1.4, for counts that come with the flag; Hoefler et al., "Scalable Communication Protocols for
/// Dynamic Sparse Data Exchange" (PPoPP 2010), for unknown senders.
class ListHalo {
 public:
  /// How it, and a Migration, find and reach other ranks. The same on all ranks, but for the names of the neighbours.
  struct Options {
    /// All ranks that will ever be sent to or received from; each of them must name this rank too. This rank itself may be
    /// listed or not. Then a rebuild exchanges messages with these ranks alone. Without this option each rebuild is collective,
    /// to find out who sends to whom.
    std::optional<std::vector<int>> neighbours = {};
    /// Force peer, mpi_direct or mpi_staged for all ranks; else SELVAGE_TRANSPORT, else ContextOptions::transport, else the first
    /// that is possible.
    std::optional<Transport> transport = {};
    /// Force host, stream, queue or kernel; else SELVAGE_INITIATION, else ContextOptions::initiation, else stream where it is
    /// possible. kernel: peers' kernels signal and wait by themselves, as they do in any case where particles lie in GPU
    /// memory. queue: kernels hand the proxy what to send over MPI, on one host too, and wait for what it brings; it needs
    /// MPI_THREAD_MULTIPLE.
    std::optional<Initiation> initiation = {};
  };

  /// A started gather or scatter_add. Give it to finish(), exactly once.
  template <class Mover>
  class [[nodiscard]] Pending;

  /// Collective over the context's ranks, as is the first rebuild.
  ///
  /// \param space     where lists are grouped and fields packed; the instance is only used during the call
  /// \param owned     how many particles this rank owns
  /// \param send_ids  rank 1, integers: by entry, the owned particle that is sent
  /// \param send_ranks  rank 1, integers: by entry, the rank that gets its ghost. Both lie where `space` reaches
  ///                    them, in any order, and aren't needed afterwards.
  /// \throws Error{usage} on every rank: particles that aren't owned, ranks that don't exist, or that aren't
  ///         neighbours where these were named; neighbours that don't name each other; options that differ.
  ///         Error{unsupported}: a forced transport or initiation that isn't possible, and why. Error{timeout}
  template <class Space, class Ids, class Ranks>
  ListHalo(const Space& space, const Context& context, std::int64_t owned, const Ids& send_ids,
           const Ranks& send_ranks, const Options& options)
      : plan_(make_plan(space, context, options)) {
    rebuild(space, owned, send_ids, send_ranks);
  }
  template <class Space, class Ids, class Ranks>
  ListHalo(const Space& space, const Context& context, std::int64_t owned, const Ids& send_ids,
           const Ranks& send_ranks)
      : ListHalo(space, context, owned, send_ids, send_ranks, Options{}) {}
  ListHalo(ListHalo&&) noexcept;
  ListHalo& operator=(ListHalo&&) noexcept;
  /// On GPUs it waits up to a second for the other ranks: destroy objects in the same order on all of them.
  ~ListHalo();

  /// New lists; Views may have become others since. Links, mappings and memory stay and grow by half where they must.
  /// Collective among the neighbours that the options name; else over the context's ranks. Ranks wait for each other as
  /// in a step: for timeout(), not for setup_timeout().
  /// \throws Error{usage} as the constructor, on every rank, or, with named neighbours, on all of them
  template <class Space, class Ids, class Ranks>
  void rebuild(const Space& space, std::int64_t owned, const Ids& send_ids, const Ranks& send_ranks) {
    static_assert(Ids::rank() == 1 && Ranks::rank() == 1, "lists are Views of rank 1");
    static_assert(
        std::is_integral_v<typename Ids::value_type> && std::is_integral_v<typename Ranks::value_type>,
        "lists hold integers");
    detail::KokkosExecutor<Space> executor(space);
    rebuild_from(executor, detail::KokkosListSource<Space, Ids, Ranks>(space, send_ids, send_ranks), owned);
  }

  /// How many ghosts this rank has since the last rebuild; Views hold owned() + ghosts() particles at least.
  [[nodiscard]] std::int64_t ghosts() const;
  /// How many particles this rank owns since then.
  [[nodiscard]] std::int64_t owned() const;
  /// How many ghosts the other ranks, and this one, have of particles of this rank.
  [[nodiscard]] std::int64_t entries() const;

  /// Fills ghosts with what their owners hold, ordered after what `space` was given before, and before what it is given
  /// next.
  ///
  /// \param fields  Views of rank 1, or 2 with components last, of any layout and any trivially copyable elements, or
  ///                what shifted() makes of them; [particle] or [particle, component]. In any memory that `space`
  ///                reaches; other Views in every call if need be.
  /// \throws Error{usage}: a View with too little room, which ranks that receive from this one throw too; other fields
  ///         than on another rank; Error{timeout} that names the late rank. What other ranks do is known later where
  ///         kernels wait: see check()
  template <class Space, class... Fields>
  void gather(const Space& space, const Fields&... fields) {
    detail::KokkosExecutor<Space> executor(space);
    detail::GatherMover<Space, Fields...> mover(space, index(), fields...);
    gather_on(executor, mover);
  }
  /// The reverse: adds ghosts to what they are ghosts of, `owned = owned + ghost`, for each particle in the order of the
  /// ranks that hold its ghosts and then of this rank's list. So the bits depend on the lists alone, not on transports,
  /// threads or timing, and no atomics are needed. Ghosts keep their values.
  /// \param views  as gather()'s fields, of elements that can be added
  /// \throws as gather()
  template <class Space, class... Views>
  void scatter_add(const Space& space, const Views&... views) {
    detail::KokkosExecutor<Space> executor(space);
    detail::ScatterMover<Space, Views...> mover(space, index(), views...);
    scatter_add_on(executor, mover);
  }

  /// Starts a gather: packs, and sends what can be sent without waiting for another rank. Until finish(), owned particles may
  /// be read but not written, ghosts must not be touched, and the Views must stay allocated.
  template <class Space, class... Fields>
  [[nodiscard]] auto start_gather(const Space& space, const Fields&... fields);
  /// The same for scatter_add(): ghosts may be read, owned particles must not be touched.
  template <class Space, class... Views>
  [[nodiscard]] auto start_scatter_add(const Space& space, const Views&... views);
  /// Ghosts, or owned particles, are complete when it returns (host spaces), or before what `space` is given next.
  /// \param space  of the type that the operation was started with
  /// \throws as gather(); Error{usage} for what another ListHalo has started, or what was finished before
  template <class Space, class Mover>
  void finish(const Space& space, Pending<Mover>&& pending) {
    detail::KokkosExecutor<Space> executor(space);
    require_own(pending.plan_, pending.mover_ != nullptr);
    finish_on(executor, *std::exchange(pending.mover_, nullptr));
  }

  /// Whether device() is possible: all ranks are on one host, the transport is peer, and particles lie in GPU memory or the
  /// initiation is kernel. The same on all ranks.
  [[nodiscard]] bool has_device() const;
  /// A handle with which kernels put the ghosts of this list and wait for their own. Collective among ranks that share
  /// ghosts. Valid until the next rebuild() or device(): make a new one after each rebuild. Its ghosts lie in memory of the
  /// ListHalo, not in Views.
  ///
  /// \tparam T     what a ghost is: trivially copyable; the same size on all ranks
  /// \param space  of kernels that use it; waits for what it was given before
  /// \throws Error{unsupported} where has_device() is false; Error{usage}: elements of another size on another rank;
  ///         Error{timeout}
  template <class T, class Space>
  [[nodiscard]] ListPort<T> device(const Space& space);

  /// Throws the errors of kernels that wait for other ranks, as on GPUs: Error{timeout}, or Error{usage} where ranks made
  /// different calls. Every call but finish() throws them too, as soon as they are known; after a fence check() knows all of
  /// them. Does nothing where the host waits.
  void check() const;

  /// Per rank: transport, initiation, how many particles go and come, and why.
  [[nodiscard]] std::string explain() const;

 private:
  template <class Space>
  static std::shared_ptr<detail::ListPlan> make_plan(const Space& space, const Context& context,
                                                     const Options& options) {
    detail::KokkosExecutor<Space> executor(space);
    return make_plan_on(executor, context, options);
  }
  static std::shared_ptr<detail::ListPlan> make_plan_on(detail::Executor& executor, const Context& context,
                                                        const Options& options);
  void rebuild_from(detail::Executor& executor, const detail::ListSource& source, std::int64_t owned);
  [[nodiscard]] detail::ListIndex& index() const;
  void start_gather_on(detail::Executor& executor, detail::ListMover& mover);
  void start_scatter_on(detail::Executor& executor, detail::ListMover& mover);
  void gather_on(detail::Executor& executor, detail::ListMover& mover);
  void scatter_add_on(detail::Executor& executor, detail::ListMover& mover);
  void require_own(const detail::ListPlan* plan, bool is_pending) const;
  void finish_on(detail::Executor& executor, detail::ListMover& mover);
  [[nodiscard]] detail::ListPortTable open_port_on(detail::Executor& executor, std::size_t element_bytes);

  std::shared_ptr<detail::ListPlan> plan_;  // shared only so that its type may stay incomplete here
};

template <class T, class Space>
ListPort<T> ListHalo::device(const Space& space) {
  static_assert(std::is_trivially_copyable_v<T>, "ghosts travel as bytes");
  detail::KokkosExecutor<Space> executor(space);
  const detail::ListPortTable table = open_port_on(executor, sizeof(T));
  Kokkos::parallel_for("comm::place_ghosts", Kokkos::RangePolicy<Space>(space, 0, entries()),
                       detail::PlaceGhosts{table, index().order});
  return ListPort<T>(table);
}

template <class Mover>
class [[nodiscard]] ListHalo::Pending {
 public:
  Pending(Pending&&) noexcept = default;
  Pending& operator=(Pending&&) noexcept = default;

 private:
  friend class ListHalo;
  Pending(const detail::ListPlan* plan, std::unique_ptr<Mover> mover)
      : plan_(plan), mover_(std::move(mover)) {}
  const detail::ListPlan* plan_;
  std::unique_ptr<Mover> mover_;  ///< null once finished or moved from
};

template <class Space, class... Fields>
auto ListHalo::start_gather(const Space& space, const Fields&... fields) {
  using Mover = detail::GatherMover<Space, Fields...>;
  detail::KokkosExecutor<Space> executor(space);
  auto mover = std::make_unique<Mover>(space, index(), fields...);
  start_gather_on(executor, *mover);
  return Pending<Mover>(plan_.get(), std::move(mover));
}
template <class Space, class... Views>
auto ListHalo::start_scatter_add(const Space& space, const Views&... views) {
  using Mover = detail::ScatterMover<Space, Views...>;
  detail::KokkosExecutor<Space> executor(space);
  auto mover = std::make_unique<Mover>(space, index(), views...);
  start_scatter_on(executor, *mover);
  return Pending<Mover>(plan_.get(), std::move(mover));
}

}  // namespace selvage
