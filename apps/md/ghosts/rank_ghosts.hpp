#pragma once

#include "md/atoms.hpp"
#include "md/ghosts/decomposition.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/comm/list_halo.hpp>
#include <selvage/comm/migration.hpp>
#include <selvage/error.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace selvage::md {

namespace detail {

/// One axis of the ranks' boxes, as atoms of this rank's see it.
template <class Real>
struct RankAxis {
  Real low_end;     ///< atoms below have a ghost on the rank before
  Real high_begin;  ///< atoms from here on have one on the rank after
  Real
      low_shift;  ///< what a ghost on the rank before is moved by: the box's length where that is through its side
  Real high_shift;
  int low_step;  ///< from this rank's number to that of the rank before
  int high_step;
};

/// Where ghosts of an atom go along one axis; the first is where it is itself.
template <class Real>
struct RankSteps {
  Real shift[3];
  int step[3];
  int count;
  KOKKOS_FUNCTION RankSteps(const RankAxis<Real>& axis, Real x) : shift{0, 0, 0}, step{0, 0, 0}, count(1) {
    if (x < axis.low_end) {
      shift[count] = axis.low_shift;
      step[count++] = axis.low_step;
    }
    if (x >= axis.high_begin) {
      shift[count] = axis.high_shift;
      step[count++] = axis.high_step;
    }
  }
};

template <class Real>
struct RankAxes {
  RankAxis<Real> x, y, z;
};

/// The rank that owns a position.
template <class Real>
struct FindOwner {
  Vec3<Real> lower, ranks_per_length;
  int ranks[3];
  /// Rounding must not leave the ranks there are.
  KOKKOS_FUNCTION static int clamped(int i, int count) { return i < 0 ? 0 : i >= count ? count - 1 : i; }
  KOKKOS_FUNCTION int operator()(const Position<Real>& p) const {
    const int x = clamped(static_cast<int>((p.x - lower.x) * ranks_per_length.x), ranks[0]);
    const int y = clamped(static_cast<int>((p.y - lower.y) * ranks_per_length.y), ranks[1]);
    const int z = clamped(static_cast<int>((p.z - lower.z) * ranks_per_length.z), ranks[2]);
    return (z * ranks[1] + y) * ranks[0] + x;
  }
};

}  // namespace detail

/// Ghosts of several ranks: copies of atoms of the ranks around, and images through periodic sides, in one message per
/// rank. What the engine asks of it is said at PeriodicImages. All members but box() are collective.
template <class Real, class Space>
class RankGhosts {
 public:
  template <class T>
  using Array = Kokkos::View<T*, typename Space::memory_space>;

  /// \param width  how far beyond the box ghosts are wanted
  /// \throws Error{input} where a rank's box is shorter than that
  RankGhosts(const Space& space, const Context& context, const Decomposition& decomposition, double width)
      : context_(context),
        decomposition_(decomposition),
        box_(decomposition.box()),
        migration_(space, context) {
    for (int a = 0; a < 3; ++a) {
      if (box_.length(a) >= width) continue;
      throw Error(
          ErrorKind::input,
          fmt::format(
              "{} ranks along {} have boxes of {:.6g} sigma, and ghosts reach {:.6g}: use fewer ranks",
              decomposition.ranks()[a], "xyz"[a], box_.length(a), width));
    }
    axes_ = {axis(0, width), axis(1, width), axis(2, width)};
  }

  [[nodiscard]] const Domain& box() const { return box_; }

  void migrate(const Space& space, Atoms<Real, Space>& atoms) {
    wrap(space, atoms, decomposition_.domain());
    const auto owners = detail::uninitialised<Array<int>>("owners", static_cast<std::size_t>(atoms.owned));
    find_owners(space, atoms, owners);
    const std::int64_t count = migration_.plan(space, owners);
    if (count > std::numeric_limits<int>::max()) {
      throw Error(ErrorKind::unsupported,
                  fmt::format("{} atoms are more than one rank can count: use more ranks", count));
    }
    space.fence("md: before the atoms' arrays grow");
    reserve_owned(atoms, count);
    migration_.move(space, atoms.positions, atoms.velocities, atoms.ids, atoms.images);
    atoms.owned = static_cast<int>(count);
    atoms.ghosts = 0;
  }

  void build(const Space& space, Atoms<Real, Space>& atoms) {
    const auto first =
        detail::uninitialised<Array<int>>("first entries", static_cast<std::size_t>(atoms.owned));
    const std::int64_t entries = count(space, atoms, first);
    entry_atoms_ = detail::uninitialised<Array<int>>("entry atoms", static_cast<std::size_t>(entries));
    entry_ranks_ = detail::uninitialised<Array<int>>("entry ranks", static_cast<std::size_t>(entries));
    entry_shifts_ = Shifts(Kokkos::view_alloc("entry shifts", Kokkos::WithoutInitializing),
                           static_cast<std::size_t>(entries));
    fill(space, atoms, first);
    if (list_) {
      list_->rebuild(space, atoms.owned, entry_atoms_, entry_ranks_);
    } else {
      list_.emplace(space, context_, atoms.owned, entry_atoms_, entry_ranks_);
    }
    reserve_ghosts(space, atoms, static_cast<int>(list_->ghosts()));
    atoms.ghosts = static_cast<int>(list_->ghosts());
    update(space, atoms);
  }

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

  /// The largest over ranks.
  [[nodiscard]] double largest_over_ranks(double value) const {
    double largest = 0;
    check_mpi(MPI_Allreduce(&value, &largest, 1, MPI_DOUBLE, MPI_MAX, context_.comm()), "MPI_Allreduce");
    return largest;
  }
  /// Sums over ranks in place, in rank order, so that all get the same bits in each run.
  void sum_over_ranks(std::span<double> values) const {
    std::vector<double> all(values.size() * static_cast<std::size_t>(context_.size()));
    const int count = static_cast<int>(values.size());
    check_mpi(MPI_Allgather(values.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, context_.comm()),
              "MPI_Allgather");
    std::ranges::fill(values, 0.0);
    for (std::size_t i = 0; i < all.size(); ++i) values[i % values.size()] += all[i];
  }

  [[nodiscard]] std::string explain() const { return list_->explain(); }

  void find_owners(const Space& space, const Atoms<Real, Space>& atoms, const Array<int>& owners) const {
    const detail::FindOwner<Real> owner = owner_finder();
    const auto positions = atoms.positions;
    Kokkos::parallel_for(
        "md::find_owners", Kokkos::RangePolicy<Space>(space, 0, atoms.owned),
        KOKKOS_LAMBDA(int i) { owners(i) = owner(positions(i)); });
  }

  std::int64_t count(const Space& space, const Atoms<Real, Space>& atoms, const Array<int>& first) const {
    using Steps = detail::RankSteps<Real>;
    const auto positions = atoms.positions;
    const auto axes = axes_;
    std::int64_t entries = 0;
    Kokkos::parallel_scan(
        "md::count_entries", Kokkos::RangePolicy<Space>(space, 0, atoms.owned),
        KOKKOS_LAMBDA(int i, std::int64_t& sum, bool last) {
          if (last) first(i) = static_cast<int>(sum);
          const Position<Real> p = positions(i);
          sum += Steps(axes.x, p.x).count * Steps(axes.y, p.y).count * Steps(axes.z, p.z).count - 1;
        },
        entries);
    return entries;
  }

  void fill(const Space& space, const Atoms<Real, Space>& atoms, const Array<int>& first) const {
    using Steps = detail::RankSteps<Real>;
    const auto positions = atoms.positions;
    const auto axes = axes_;
    const auto entry_atoms = entry_atoms_;
    const auto entry_ranks = entry_ranks_;
    const auto shifts = entry_shifts_;
    const int rank = decomposition_.rank_at(decomposition_.place());
    Kokkos::parallel_for(
        "md::fill_entries", Kokkos::RangePolicy<Space>(space, 0, atoms.owned), KOKKOS_LAMBDA(int i) {
          const Position<Real> p = positions(i);
          const Steps x(axes.x, p.x);
          const Steps y(axes.y, p.y);
          const Steps z(axes.z, p.z);
          for (int copy = 1; copy < x.count * y.count * z.count; ++copy) {
            const int ix = copy % x.count;
            const int iy = copy / x.count % y.count;
            const int iz = copy / (x.count * y.count);
            const int entry = first(i) + copy - 1;
            entry_atoms(entry) = i;
            entry_ranks(entry) = rank + x.step[ix] + y.step[iy] + z.step[iz];
            shifts(entry, 0) = x.shift[ix];
            shifts(entry, 1) = y.shift[iy];
            shifts(entry, 2) = z.shift[iz];
            shifts(entry, 3) = 0;
          }
        });
  }

  [[nodiscard]] detail::FindOwner<Real> owner_finder() const {
    const Domain& whole = decomposition_.domain();
    const auto& ranks = decomposition_.ranks();
    return {{static_cast<Real>(whole.lower[0]), static_cast<Real>(whole.lower[1]),
             static_cast<Real>(whole.lower[2])},
            {static_cast<Real>(ranks[0] / whole.length(0)), static_cast<Real>(ranks[1] / whole.length(1)),
             static_cast<Real>(ranks[2] / whole.length(2))},
            {ranks[0], ranks[1], ranks[2]}};
  }

 private:
  using Shifts = Kokkos::View<Real* [4], Kokkos::LayoutRight, typename Space::memory_space>;

  [[nodiscard]] detail::RankAxis<Real> axis(int a, double width) const {
    const int ranks = decomposition_.ranks()[a];
    const int place = decomposition_.place()[a];
    const int stride = a == 0   ? 1
                       : a == 1 ? decomposition_.ranks()[0]
                                : decomposition_.ranks()[0] * decomposition_.ranks()[1];
    const double length = decomposition_.domain().length(a);
    const bool first = place == 0;
    const bool last = place == ranks - 1;
    return {static_cast<Real>(box_.lower[a] + width), static_cast<Real>(box_.upper[a] - width),
            static_cast<Real>(first ? length : 0),    static_cast<Real>(last ? -length : 0),
            stride * (first ? ranks - 1 : -1),        stride * (last ? 1 - ranks : 1)};
  }

  Context context_;
  Decomposition decomposition_;
  Domain box_;
  detail::RankAxes<Real> axes_{};
  Migration migration_;
  std::optional<ListHalo> list_;
  Array<int> entry_atoms_;
  Array<int> entry_ranks_;
  Shifts entry_shifts_;
};

}  // namespace selvage::md
