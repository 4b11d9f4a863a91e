#pragma once

#include "md/ghosts/domain.hpp"
#include "md/physics/atoms.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace selvage::md {

namespace detail {

/// Where along an axis atoms have images.
template <class Real>
struct ImageAxis {
  Real length;
  Real low_end;     ///< atoms below have an image above the box
  Real high_begin;  ///< atoms from here on have one below
};

template <class Real>
struct ImageAxes {
  ImageAxis<Real> x, y, z;
};

/// What a ghost is an image of.
template <class Real>
struct ImageSource {
  Vec3<Real> shift;
  int atom;
};

/// The shifts of an atom and its images along one axis; the first is the atom's own.
template <class Real>
struct ImageShifts {
  Real shift[3];
  int count;
  KOKKOS_FUNCTION ImageShifts(const ImageAxis<Real>& axis, Real x) : shift{0, 0, 0}, count(1) {
    if (x < axis.low_end) shift[count++] = axis.length;
    if (x >= axis.high_begin) shift[count++] = -axis.length;
  }
};

}  // namespace detail

/// The ghosts of a rank that owns the whole box: images of its own atoms beyond the periodic sides.
///
/// What an engine asks of its ghosts: box() is where owned atoms lie; at a rebuild migrate(), then, once atoms are
/// sorted, build(); in all other steps update(); add_forces() where a half list has left forces on ghosts.
/// gather_over_ranks() gives every rank's values, rank by rank. move_planes(), before atoms are sorted, balances the
/// boxes and takes atoms to their new owners; it says whether box() is another one now.
template <class Real, class Space>
class PeriodicImages {
 public:
  template <class T>
  using Array = Kokkos::View<T*, typename Space::memory_space>;
  using Source = detail::ImageSource<Real>;
  using Shifts = detail::ImageShifts<Real>;

  /// \param width  how far beyond the sides ghosts are wanted; at most the box's shortest side
  PeriodicImages(const Domain& domain, double width)
      : domain_(domain), axes_{axis(domain, 0, width), axis(domain, 1, width), axis(domain, 2, width)} {}

  [[nodiscard]] const Domain& box() const { return domain_; }

  [[nodiscard]] std::vector<double> gather_over_ranks(std::string_view,
                                                      std::span<const double> values) const {
    return {values.begin(), values.end()};
  }
  /// One rank has all atoms wherever planes lie.
  [[nodiscard]] bool move_planes(const Space&, const Atoms<Real, Space>&) const { return false; }
  [[nodiscard]] std::string describe_boxes() const { return "one box"; }
  [[nodiscard]] std::string explain() const { return "ghosts are periodic images on one rank"; }

  /// Gives atoms that have left the box to who owns them now: here they come back through the other side, which
  /// their images count. Enqueues.
  void migrate(const Space& space, const Atoms<Real, Space>& atoms) const { wrap(space, atoms, domain_); }

  /// Makes atoms.ghosts and their positions anew; the arrays grow where they have to. Waits for the count.
  void build(const Space& space, Atoms<Real, Space>& atoms) {
    const auto first =
        detail::uninitialised<Array<int>>("first ghosts", static_cast<std::size_t>(atoms.owned));
    const std::int64_t ghosts = count(space, atoms, first);
    reserve_ghosts(space, atoms, ghosts);
    if (sources_.extent(0) < static_cast<std::size_t>(ghosts)) {
      const std::size_t room = atoms.positions.extent(0) - static_cast<std::size_t>(atoms.owned);
      sources_ = detail::uninitialised<Array<Source>>("ghost sources", room);
    }
    fill(space, atoms, first);
    update(space, atoms);
  }

  /// Moves the ghosts to where their owners are. Enqueues.
  void update(const Space& space, const Atoms<Real, Space>& atoms) const {
    const auto positions = atoms.positions;
    const auto sources = sources_;
    const int owned = atoms.owned;
    Kokkos::parallel_for(
        "md::update_ghosts", Kokkos::RangePolicy<Space>(space, 0, atoms.ghosts), KOKKOS_LAMBDA(int ghost) {
          const Source source = sources(ghost);
          const Position<Real> x = positions(source.atom);
          positions(owned + ghost) = {x.x + source.shift.x, x.y + source.shift.y, x.z + source.shift.z, 0};
        });
  }

  /// Adds the forces on ghosts to those on their owners. On one thread in the order of ghosts. Enqueues.
  void add_forces(const Space& space, const Atoms<Real, Space>& atoms) const {
    const auto forces = atoms.forces;
    const auto sources = sources_;
    const int owned = atoms.owned;
    Kokkos::parallel_for(
        "md::add_ghost_forces", Kokkos::RangePolicy<Space>(space, 0, atoms.ghosts), KOKKOS_LAMBDA(int ghost) {
          const Vec3<Real> f = forces(owned + ghost);
          Vec3<Real>& sum = forces(sources(ghost).atom);
          Kokkos::atomic_add(&sum.x, f.x);
          Kokkos::atomic_add(&sum.y, f.y);
          Kokkos::atomic_add(&sum.z, f.z);
        });
  }

  std::int64_t count(const Space& space, const Atoms<Real, Space>& atoms, const Array<int>& first) const {
    const auto positions = atoms.positions;
    const detail::ImageAxes<Real> axes = axes_;
    std::int64_t ghosts = 0;
    Kokkos::parallel_scan(
        "md::count_ghosts", Kokkos::RangePolicy<Space>(space, 0, atoms.owned),
        KOKKOS_LAMBDA(int i, std::int64_t& sum, bool last) {
          if (last) first(i) = static_cast<int>(sum);
          const Position<Real> x = positions(i);
          sum += Shifts(axes.x, x.x).count * Shifts(axes.y, x.y).count * Shifts(axes.z, x.z).count - 1;
        },
        ghosts);
    return ghosts;
  }

  void fill(const Space& space, const Atoms<Real, Space>& atoms, const Array<int>& first) const {
    const auto positions = atoms.positions;
    const auto sources = sources_;
    const detail::ImageAxes<Real> axes = axes_;
    Kokkos::parallel_for(
        "md::fill_ghosts", Kokkos::RangePolicy<Space>(space, 0, atoms.owned), KOKKOS_LAMBDA(int i) {
          const Position<Real> p = positions(i);
          const Shifts x(axes.x, p.x);
          const Shifts y(axes.y, p.y);
          const Shifts z(axes.z, p.z);
          const int images = x.count * y.count * z.count;
          for (int image = 1; image < images; ++image) {
            const Vec3<Real> shift = {x.shift[image % x.count], y.shift[image / x.count % y.count],
                                      z.shift[image / (x.count * y.count)]};
            sources(first(i) + image - 1) = {shift, i};
          }
        });
  }

 private:
  static detail::ImageAxis<Real> axis(const Domain& domain, int axis, double width) {
    return {static_cast<Real>(domain.length(axis)), static_cast<Real>(domain.lower[axis] + width),
            static_cast<Real>(domain.upper[axis] - width)};
  }

  Domain domain_;
  detail::ImageAxes<Real> axes_;
  Array<Source> sources_;
};

}  // namespace selvage::md
