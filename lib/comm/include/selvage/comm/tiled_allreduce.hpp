#pragma once

#include <selvage/comm/collective.hpp>
#include <selvage/comm/detail/signal.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

namespace selvage {

namespace detail {
class TilePlan;
}

/// An Allreduce that begins before the kernel ends that computes its elements: the kernel publishes the View tile by tile,
/// and a tile is combined as soon as all ranks have published it. The bits are those of Allreduce.
///
///     tiled.start(space);                      // on GPUs, kernels of a few multiprocessors begin to wait for tiles
///     Kokkos::parallel_for(..., [=](team) { ...; port.publish(team, tile); });
///     tiled.finish(space);
///
/// Tiles are dealt out to ranks in turn, and each rank combines its own, in the order of their numbers. That needs Views
/// that all ranks map, and on GPUs kernels that can run beside each other; elsewhere everything is combined in
/// finish(), and explain() says why. On hosts a rank combines in finish(), also what others' kernels publish while they
/// still run.
///
/// One operation is in flight at a time; not thread-safe; the View must stay allocated as long as this lives.
///
/// Source: LeBeane, dissertation ch. 6 (kernels trigger at the granularity of teams); tiles and their owners are this
/// project's.
class TiledAllreduce {
 public:
  /// What is computed, and how. The same on all ranks.
  struct Options {
    ReduceOperation operation = ReduceOperation::sum;
    /// Of a tile: a multiple of 64; the last one may have fewer.
    std::int64_t tile_elements = 64 * 1024;
    /// On a GPU: how many blocks of threads, each on a multiprocessor, combine tiles beside the kernel that publishes them. 0: half
    /// the multiprocessors, which is also the most.
    int max_blocks = 16;
  };

  /// The handle through which a kernel publishes tiles: TiledAllreduce::device() makes it, kernels copy it. Small, trivially
  /// copyable, and valid as long as its TiledAllreduce.
  class Port {
   public:
    [[nodiscard]] KOKKOS_FUNCTION std::int64_t tiles() const {
      return (count_ + tile_elements_ - 1) / tile_elements_;
    }
    /// The elements of a tile, by their place in the View's memory.
    [[nodiscard]] KOKKOS_FUNCTION ElementRange elements(std::int64_t tile) const {
      const std::int64_t begin = tile * tile_elements_;
      const std::int64_t left = count_ - begin;
      return {begin, left < tile_elements_ ? left : tile_elements_};
    }
    /// By all threads of the one team that has written a tile's elements, once per tile between start() and finish(): from
    /// now on until finish() nobody here reads or writes them. Doesn't wait for other ranks.
    template <class Team>
    KOKKOS_FUNCTION void publish(const Team& team, std::int64_t tile) const {
      team.team_barrier();
      if (owners_ == nullptr) return;
      Kokkos::single(Kokkos::PerTeam(team), [&] {
        detail::Flag* const flags = owners_[tile % ranks_];
        // Publishes to the rank that combines the tile: the team's stores into its elements.
        detail::release_epoch(flags[tile / ranks_ * ranks_ + rank_], *epoch_ + 1);
      });
    }

   private:
    friend class detail::TilePlan;
    std::int64_t count_ = 0;
    std::int64_t tile_elements_ = 1;
    /// By rank: its flags, [its tiles][rank]; null: nobody waits for them.
    detail::Flag* const* owners_ = nullptr;
    const std::uint64_t* epoch_ = nullptr;  ///< of the last operation that is finished
    int rank_ = 0;
    int ranks_ = 1;
  };

  /// Collective over the context's communicator.
  /// \param view  as for Allreduce
  /// \throws as Allreduce's constructor; Error{usage} for tiles that aren't a multiple of 64 elements
  template <class Space, class View>
  TiledAllreduce(const Space& space, const Context& context, const View& view, const Options& options)
      : plan_(make_plan(detail::KokkosExecutor<Space>(space), context, options,
                        detail::describe_elements(view))) {
    static_assert(Kokkos::SpaceAccessibility<Space, typename View::memory_space>::accessible,
                  "the execution space can't reach the View's memory space");
  }
  template <class Space, class View>
  TiledAllreduce(const Space& space, const Context& context, const View& view)
      : TiledAllreduce(space, context, view, Options{}) {}
  TiledAllreduce(TiledAllreduce&&) noexcept;
  TiledAllreduce& operator=(TiledAllreduce&&) noexcept;
  ~TiledAllreduce();

  /// For kernels that `space` is given between start() and finish().
  [[nodiscard]] Port device() const;
  /// What `space` was given before is done with the View. Never waits for another rank.
  template <class Space>
  void start(const Space& space) {
    detail::KokkosExecutor<Space> executor(space);
    start_on(executor);
  }
  /// All tiles are published by what `space` was given. What it is given next sees the result; blocks until done on hosts.
  /// \throws Error{timeout} that names the late rank
  template <class Space>
  void finish(const Space& space) {
    detail::KokkosExecutor<Space> executor(space);
    finish_on(executor);
  }
  /// Throws what the device found while it waited; see HaloExchange::check.
  void check() const;
  /// When tiles are combined, and why not earlier.
  [[nodiscard]] std::string explain() const;

 private:
  static std::shared_ptr<detail::TilePlan> make_plan(const detail::Executor& executor, const Context& context,
                                                     const Options& options,
                                                     const detail::Elements& elements);
  void start_on(detail::Executor& executor);
  void finish_on(detail::Executor& executor);

  std::shared_ptr<detail::TilePlan> plan_;
};
static_assert(std::is_trivially_copyable_v<TiledAllreduce::Port>);

}  // namespace selvage
