#pragma once

#include "common/rank_sums.hpp"
#include "md/ghosts/decomposition.hpp"
#include "md/ghosts/planes.hpp"
#include "md/physics/atom_teams.hpp"
#include "md/physics/atoms.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/comm/list_halo.hpp>
#include <selvage/comm/migration.hpp>
#include <selvage/error.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace selvage::md {

namespace detail {

/// Where atoms of this rank have a ghost on another rank, or an image on this one.
template <class Real>
struct GhostTarget {
  Vec3<Real> lower, upper;  ///< of positions that have one
  Vec3<Real> shift;         ///< what the ghost is moved by
  int rank;

  KOKKOS_FUNCTION bool wants(const Position<Real>& p) const {
    return p.x >= lower.x && p.x < upper.x && p.y >= lower.y && p.y < upper.y && p.z >= lower.z &&
           p.z < upper.z;
  }
};

template <class Real>
Vec3<Real> narrowed(const std::array<double, 3>& v) {
  return {static_cast<Real>(v[0]), static_cast<Real>(v[1]), static_cast<Real>(v[2])};
}

/// All targets around a rank's box.
template <class Real>
struct GhostTargets {
  const GhostTarget<Real>* targets;
  int count;
  Vec3<Real> inner_lower, inner_upper;  ///< within, no atom has a ghost

  KOKKOS_FUNCTION bool is_inner(const Position<Real>& p) const {
    return p.x >= inner_lower.x && p.x < inner_upper.x && p.y >= inner_lower.y && p.y < inner_upper.y &&
           p.z >= inner_lower.z && p.z < inner_upper.z;
  }
  /// How many there are to be asked about `p`.
  KOKKOS_FUNCTION int asked(const Position<Real>& p) const { return is_inner(p) ? 0 : count; }
};

}  // namespace detail

/// Ghosts of several ranks: copies of atoms of the ranks around, and images through periodic sides, in one message per
/// rank. What the engine asks of it is said at PeriodicImages. All members but box() are collective.
template <class Real, class Space>
class RankGhosts {
 public:
  template <class T>
  using Array = Kokkos::View<T*, typename Space::memory_space>;

  using Port = ListPort<Position<Real>>;
  /// For the kernel that moves atoms: their ghosts go out as they move.
  struct Sender {
    Port port;
    Array<int> first_entries;  ///< by atom; one more
    Kokkos::View<const Real* [4], Kokkos::LayoutRight, typename Space::memory_space> shifts;  ///< by entry

    KOKKOS_FUNCTION void send(const typename Port::Launch& turn, int atom, const Position<Real>& p) const {
      for (int entry = first_entries(atom); entry < first_entries(atom + 1); ++entry) {
        turn.put(entry, {p.x + shifts(entry, 0), p.y + shifts(entry, 1), p.z + shifts(entry, 2), 0});
      }
    }
  };

  /// \param width  how far beyond the box ghosts are wanted
  /// \param options  how they travel; the neighbours are found here
  /// \throws Error{input} where a rank's box is shorter than that; as ListHalo for options that aren't possible
  RankGhosts(const Space& space, const Context& context, const Decomposition& decomposition, double width,
             const ListHalo::Options& options = {})
      : context_(context),
        decomposition_(decomposition),
        width_(width),
        options_(naming_neighbours(options, context)),
        migration_(space, context, options_) {
    for (int a = 0; a < 3; ++a) {
      const int ranks = decomposition.ranks()[a];
      const double side = decomposition.domain().length(a) / ranks;
      if (side >= width) continue;
      throw Error(
          ErrorKind::input,
          fmt::format(
              "{} ranks along {} have boxes of {:.6g} sigma, and ghosts reach {:.6g}: use fewer ranks", ranks,
              "xyz"[a], side, width));
    }
    take_planes(space);
  }

  [[nodiscard]] const Domain& box() const { return box_; }

  void migrate(const Space& space, Atoms<Real, Space>& atoms) {
    const auto owners = detail::reserve(owners_, "owners", static_cast<std::size_t>(atoms.owned));
    wrap_and_find_owners(space, atoms, owners_);
    const std::int64_t count = migration_.plan(space, owners);
    if (count > std::numeric_limits<int>::max()) {
      throw Error(ErrorKind::unsupported,
                  fmt::format("{} atoms are more than one rank can count: use more ranks", count));
    }
    reserve_owned(space, atoms, count);
    migration_.move(space, atoms.positions, atoms.velocities, atoms.ids, atoms.images);
    atoms.owned = static_cast<int>(count);
    atoms.ghosts = 0;
  }

  void build(const Space& space, Atoms<Real, Space>& atoms) {
    static_cast<void>(
        detail::reserve(first_entries_, "first entries", static_cast<std::size_t>(atoms.owned) + 1));
    const std::int64_t listed = count(space, atoms, first_entries_);
    // As many ghosts as this rank has on others: fill() counts them in 31 bits, too.
    require_countable(0, listed);
    const auto entries = static_cast<std::size_t>(listed);
    const auto entry_atoms = detail::reserve(entry_atoms_, "entry atoms", entries);
    const auto entry_ranks = detail::reserve(entry_ranks_, "entry ranks", entries);
    if (entry_shifts_.extent(0) < entries)
      entry_shifts_ = detail::uninitialised<Shifts>("entry shifts", entries + entries / 8);
    fill(space, atoms, first_entries_);
    if (list_) {
      list_->rebuild(space, atoms.owned, entry_atoms, entry_ranks);
    } else {
      list_.emplace(space, context_, atoms.owned, entry_atoms, entry_ranks, options_);
    }
    reserve_ghosts(space, atoms, list_->ghosts());
    update(space, atoms);
    if (sends_from_kernels())
      sender_ = Sender{list_->template device<Position<Real>>(space), first_entries_, entry_shifts_};
  }

  /// Whether steps may send ghosts from the kernel that moves atoms, and find those of others in port() instead of behind
  /// the owned positions. The same on all ranks; after the first build().
  [[nodiscard]] bool sends_from_kernels() const { return list_->has_device(); }
  [[nodiscard]] const Sender& sender() const { return sender_; }
  [[nodiscard]] const Port& port() const { return sender_.port; }

  void update(const Space& space, const Atoms<Real, Space>& atoms) {
    using Rows =
        Kokkos::View<Real* [4], Kokkos::LayoutRight, typename Space::memory_space, Kokkos::MemoryUnmanaged>;
    const Rows rows(reinterpret_cast<Real*>(atoms.positions.data()), atoms.positions.extent(0));
    list_->gather(space, shifted(rows, entry_shifts_));
  }

  void add_forces(const Space& space, const Atoms<Real, Space>& atoms) {
    using Rows =
        Kokkos::View<Real* [3], Kokkos::LayoutRight, typename Space::memory_space, Kokkos::MemoryUnmanaged>;
    list_->scatter_add(space, Rows(reinterpret_cast<Real*>(atoms.forces.data()), atoms.forces.extent(0)));
  }

  [[nodiscard]] std::vector<double> gather_over_ranks(std::string_view what,
                                                      std::span<const double> values) const {
    return app::gather_everywhere(context_.comm(), what, values);
  }

  bool move_planes(const Space& space, Atoms<Real, Space>& atoms) {
    const bool moved = decomposition_.balance(width_, [&](const Decomposition& so_far, int axis) {
      const auto counts = count_along(space, atoms, so_far, axis);
      return app::sum_counts(context_.comm(), "counting atoms to balance ranks", counts);
    });
    if (!moved) return false;
    take_planes(space);
    migrate(space, atoms);
    return true;
  }

  [[nodiscard]] std::string explain() const { return list_->explain(); }
  [[nodiscard]] std::string describe_boxes() const { return decomposition_.describe(); }

  void wrap_and_find_owners(const Space& space, const Atoms<Real, Space>& atoms,
                            const Array<int>& owners) const {
    const PlaneTable<Real> planes = table(decomposition_, rows_);
    const detail::WrapAtom<Real, Space> wrap_atom(atoms, decomposition_.domain());
    Kokkos::parallel_for(
        "md::find_owners", Kokkos::RangePolicy<Space>(space, 0, atoms.owned),
        KOKKOS_LAMBDA(int i) { owners(i) = planes.owner(wrap_atom(i)); });
  }

  /// first(i) = how many entries atoms before i have, for one more than there are atoms. \return first(owned)
  std::int64_t count(const Space& space, const Atoms<Real, Space>& atoms, const Array<int>& first) const {
    const auto positions = atoms.positions;
    const auto around = targets();
    const int owned = atoms.owned;
    const AtomTeams<Space> teams(space, owned, most_lanes);
    Kokkos::parallel_for(
        "md::count_entries", teams.policy(space), KOKKOS_LAMBDA(const typename AtomTeams<Space>::Team& team) {
          teams.each(team, [&](int i) {
            const Position<Real> p = positions(i);
            int entries = 0;
            Kokkos::parallel_reduce(
                Kokkos::ThreadVectorRange(team, around.asked(p)),
                [&](int t, int& sum) { sum += around.targets[t].wants(p) ? 1 : 0; }, entries);
            Kokkos::single(Kokkos::PerThread(team), [&]() { first(i) = entries; });
          });
        });
    std::int64_t entries = 0;
    Kokkos::parallel_scan(
        "md::first_entries", Kokkos::RangePolicy<Space>(space, 0, owned + 1),
        KOKKOS_LAMBDA(int i, std::int64_t& sum, bool last) {
          const int of_atom = i < owned ? first(i) : 0;
          if (last) first(i) = static_cast<int>(sum);
          sum += of_atom;
        },
        entries);
    return entries;
  }

  void fill(const Space& space, const Atoms<Real, Space>& atoms, const Array<int>& first) const {
    const auto positions = atoms.positions;
    const auto around = targets();
    const auto entry_atoms = entry_atoms_;
    const auto entry_ranks = entry_ranks_;
    const auto shifts = entry_shifts_;
    const AtomTeams<Space> teams(space, atoms.owned, most_lanes);
    Kokkos::parallel_for(
        "md::fill_entries", teams.policy(space), KOKKOS_LAMBDA(const typename AtomTeams<Space>::Team& team) {
          teams.each(team, [&](int i) {
            const Position<Real> p = positions(i);
            const int begin = first(i);
            Kokkos::parallel_scan(Kokkos::ThreadVectorRange(team, around.asked(p)),
                                  [&](int t, int& before, bool last) {
                                    const detail::GhostTarget<Real>& target = around.targets[t];
                                    if (!target.wants(p)) return;
                                    if (last) {
                                      const int entry = begin + before;
                                      entry_atoms(entry) = i;
                                      entry_ranks(entry) = target.rank;
                                      shifts(entry, 0) = target.shift.x;
                                      shifts(entry, 1) = target.shift.y;
                                      shifts(entry, 2) = target.shift.z;
                                      shifts(entry, 3) = 0;
                                    }
                                    ++before;
                                  });
          });
        });
  }

  /// This rank's part of what Decomposition::balance() asks for. Waits.
  [[nodiscard]] std::vector<std::int64_t> count_along(const Space& space, const Atoms<Real, Space>& atoms,
                                                      const Decomposition& decomposition, int axis) const {
    const PlaneRows rows = copy_rows(space, decomposition);
    const auto bin_of = PlaneBins<Real>::with(table(decomposition, rows), decomposition.domain(), axis);
    const auto positions = atoms.positions;
    const Array<std::int64_t> counts(
        "bins", static_cast<std::size_t>(decomposition.rows(axis)) * Decomposition::bins);
    Kokkos::parallel_for(
        "md::count_along", Kokkos::RangePolicy<Space>(space, 0, atoms.owned),
        KOKKOS_LAMBDA(int i) { Kokkos::atomic_inc(&counts(bin_of(positions(i)))); });
    const auto host = Kokkos::create_mirror_view(counts);
    Kokkos::deep_copy(space, host, counts);
    space.fence("md: atoms counted along an axis");
    return {host.data(), host.data() + host.extent(0)};
  }

 private:
  using Shifts = Kokkos::View<Real* [4], Kokkos::LayoutRight, typename Space::memory_space>;
  static constexpr int most_lanes = 16;  ///< for an atom's targets
  using PlaneRows = std::array<Array<Real>, 3>;

  /// Of few ranks all may be neighbours: then each tells each how many atoms come, which is faster than finding out who
  /// sends.
  static ListHalo::Options naming_neighbours(ListHalo::Options options, const Context& context) {
    constexpr int few = 8;
    if (context.size() > few) return options;
    options.neighbours.emplace(static_cast<std::size_t>(context.size()));
    std::iota(options.neighbours->begin(), options.neighbours->end(), 0);
    return options;
  }

  static PlaneRows copy_rows(const Space& space, const Decomposition& decomposition) {
    PlaneRows rows;
    for (int axis = 0; axis < 3; ++axis) {
      const std::vector<double>& planes = decomposition.planes(axis);
      rows[axis] = detail::uninitialised<Array<Real>>("planes", planes.size());
      const auto host = Kokkos::create_mirror_view(rows[axis]);
      for (std::size_t i = 0; i < planes.size(); ++i) host(i) = static_cast<Real>(planes[i]);
      Kokkos::deep_copy(space, rows[axis], host);
    }
    space.fence("md: planes copied");
    return rows;
  }

  static PlaneTable<Real> table(const Decomposition& decomposition, const PlaneRows& rows) {
    const auto& ranks = decomposition.ranks();
    return {{rows[0].data(), rows[1].data(), rows[2].data()}, {ranks[0], ranks[1], ranks[2]}};
  }

  /// Everything that follows from the decomposition's planes.
  void take_planes(const Space& space) {
    box_ = decomposition_.box();
    rows_ = copy_rows(space, decomposition_);
    const auto neighbours = decomposition_.neighbours(width_);
    targets_ = detail::uninitialised<Array<detail::GhostTarget<Real>>>("ghost targets", neighbours.size());
    const auto host = Kokkos::create_mirror_view(targets_);
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      const Decomposition::Neighbour& other = neighbours[i];
      host(i) = {detail::narrowed<Real>(other.reach.lower), detail::narrowed<Real>(other.reach.upper),
                 detail::narrowed<Real>(other.shift), other.rank};
    }
    Kokkos::deep_copy(space, targets_, host);
    space.fence("md: ghost targets copied");
  }

  [[nodiscard]] detail::GhostTargets<Real> targets() const {
    std::array<double, 3> lower = box_.lower;
    std::array<double, 3> upper = box_.upper;
    for (double& side : lower) side += width_;
    for (double& side : upper) side -= width_;
    return {targets_.data(), static_cast<int>(targets_.extent(0)), detail::narrowed<Real>(lower),
            detail::narrowed<Real>(upper)};
  }

  Context context_;
  Decomposition decomposition_;
  double width_;
  ListHalo::Options options_;
  Domain box_;
  PlaneRows rows_;  ///< of planes
  Array<detail::GhostTarget<Real>> targets_;
  Migration migration_;
  std::optional<ListHalo> list_;
  Sender sender_;
  Array<int> owners_;
  Array<int> first_entries_;
  Array<int> entry_atoms_;
  Array<int> entry_ranks_;
  Shifts entry_shifts_;
};

}  // namespace selvage::md
