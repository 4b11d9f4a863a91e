#pragma once

#include <selvage/comm/context.hpp>
#include <selvage/comm/detail/kokkos_list_mover.hpp>
#include <selvage/comm/detail/kokkos_list_source.hpp>
#include <selvage/comm/list_halo.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

namespace selvage {

namespace detail {
class ListPlan;
}

/// Moves particles to their new owners, with all their fields:
///
///     const std::int64_t count = migration.plan(space, new_owners);   // of the particles this rank has now
///     if (count > x.extent(0)) Kokkos::resize(x, count + count / 8);  // and the others
///     migration.move(space, x, v, id);                                // particles [0, count) are this rank's
///
/// Those that stay come first, in their order; then those that arrive, by the rank they come from, in that rank's order.
/// So the result depends on the owners alone. Transports, waits and errors are ListHalo's. Not thread-safe.
class Migration {
 public:
  /// Collective over the context's ranks. \throws as ListHalo
  template <class Space>
  Migration(const Space& space, const Context& context, const ListHalo::Options& options = {})
      : plan_(make_plan(space, context, options)) {}
  Migration(Migration&&) noexcept;
  Migration& operator=(Migration&&) noexcept;
  ~Migration();

  /// Collective among the neighbours that the options name, else over the context's ranks; in debug builds (without
  /// NDEBUG) over all, and conservation of the total count is asserted.
  /// \param new_owners  rank 1, integers, one per particle that this rank has: the rank that gets it; this rank's own
  ///                    number for those that stay. Lies where `space` reaches it, and isn't needed afterwards
  /// \return how many particles this rank has after move()
  /// \throws Error{usage} as ListHalo::rebuild, Error{verification}: particles were lost or doubled
  template <class Space, class Owners>
  [[nodiscard]] std::int64_t plan(const Space& space, const Owners& new_owners) {
    static_assert(Owners::rank() == 1 && std::is_integral_v<typename Owners::value_type>,
                  "owners are a View of rank 1 of integers");
    detail::KokkosExecutor<Space> executor(space);
    const auto count = static_cast<std::int64_t>(new_owners.extent(0));
    return plan_from(
        executor, detail::KokkosListSource<Space, detail::EveryParticle, Owners>(space, {count}, new_owners),
        count);
  }

  /// Moves fields of all particles: all fields in one call, or some in each of several calls. The plan stays valid until the
  /// next plan(). All ranks that exchange particles pass fields of the same sizes.
  /// \param views  rank 1, or 2 with components last; room for the particles before and after
  /// \throws as ListHalo::gather
  template <class Space, class... Views>
  void move(const Space& space, const Views&... views) {
    detail::KokkosExecutor<Space> executor(space);
    detail::GatherMover<Space, Views...> mover(space, index(), views...);
    move_on(executor, mover);
  }

  /// Particles of this rank before and after move(), by the last plan().
  [[nodiscard]] std::int64_t before() const;
  [[nodiscard]] std::int64_t after() const;

  /// As ListHalo::check().
  void check() const;

  /// Per rank: transport, initiation, how many particles go and come, and why.
  [[nodiscard]] std::string explain() const;

 private:
  template <class Space>
  static std::shared_ptr<detail::ListPlan> make_plan(const Space& space, const Context& context,
                                                     const ListHalo::Options& options) {
    detail::KokkosExecutor<Space> executor(space);
    return make_plan_on(executor, context, options);
  }
  static std::shared_ptr<detail::ListPlan> make_plan_on(detail::Executor& executor, const Context& context,
                                                        const ListHalo::Options& options);
  std::int64_t plan_from(detail::Executor& executor, const detail::ListSource& source, std::int64_t count);
  [[nodiscard]] detail::ListIndex& index() const;
  void move_on(detail::Executor& executor, detail::ListMover& mover);

  std::shared_ptr<detail::ListPlan> plan_;  // shared only so that its type may stay incomplete here
};

}  // namespace selvage
