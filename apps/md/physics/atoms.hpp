#pragma once

#include "md/io/state.hpp"
#include "md/physics/vectors.hpp"

#include <selvage/error.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

namespace selvage::md {

/// The atoms of one rank in the memory of `Space`: those it owns, then its ghosts, which are copies of atoms near
/// its sides. Arrays may be longer than what they hold.
template <class Real, class Space>
struct Atoms {
  template <class T>
  using Array = Kokkos::View<T*, typename Space::memory_space>;

  Array<Position<Real>> positions;  ///< owned, then ghosts
  Array<Vec3<Real>> forces;         ///< as positions; those on ghosts only with half lists
  Array<Vec3<Real>> velocities;     ///< owned
  Array<std::int64_t> ids;          ///< owned
  Array<Images> images;             ///< owned
  int owned = 0;
  int ghosts = 0;

  [[nodiscard]] int all() const { return owned + ghosts; }
};

namespace detail {

template <class Real>
[[nodiscard]] KOKKOS_FUNCTION Vec3<Real> narrowed(const Vec3<double>& v) {
  return {static_cast<Real>(v.x), static_cast<Real>(v.y), static_cast<Real>(v.z)};
}

template <class View>
[[nodiscard]] View uninitialised(const std::string& label, std::size_t extent) {
  return View(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), extent);
}

/// The first `count` of an array that only grows, by an eighth more than it must. What it held is lost where it grows.
template <class View>
[[nodiscard]] auto reserve(View& array, const std::string& label, std::size_t count) {
  if (array.extent(0) < count) array = uninitialised<View>(label, count + count / 8);
  return Kokkos::subview(array, std::make_pair(std::size_t{0}, count));
}

}  // namespace detail

/// Makes room for `count` owned atoms; what is there stays. Waits where an array grows.
template <class Real, class Space>
void reserve_owned(const Space& space, Atoms<Real, Space>& atoms, std::int64_t count) {
  const auto wanted = static_cast<std::size_t>(count);
  const auto grow = [&](auto& array) {
    if (array.extent(0) >= wanted) return;
    space.fence("md: before the atoms' arrays grow");
    Kokkos::resize(array, wanted + wanted / 8);
  };
  grow(atoms.positions);
  grow(atoms.forces);
  grow(atoms.velocities);
  grow(atoms.ids);
  grow(atoms.images);
}

/// Atoms and ghosts are counted in 31 bits. \throws Error{unsupported}
inline void require_countable(std::int64_t owned, std::int64_t ghosts) {
  if (owned + ghosts <= std::numeric_limits<int>::max()) return;
  throw Error(
      ErrorKind::unsupported,
      fmt::format("{} atoms and {} ghosts are more than one rank can count: use more ranks", owned, ghosts));
}

/// Makes room for ghosts, and counts them; what is there stays. \param ghosts  how many there will be
/// \throws Error{unsupported} as require_countable()
template <class Real, class Space>
void reserve_ghosts(const Space& space, Atoms<Real, Space>& atoms, std::int64_t ghosts) {
  require_countable(atoms.owned, ghosts);
  atoms.ghosts = static_cast<int>(ghosts);
  const auto wanted = static_cast<std::size_t>(atoms.owned) + static_cast<std::size_t>(ghosts);
  if (atoms.positions.extent(0) >= wanted) return;
  // A tenth more, so that an ordinary change of density doesn't come here again.
  const std::size_t extent = wanted + static_cast<std::size_t>(ghosts) / 10;
  const auto grow = [&](auto& array, const char* label) {
    if (array.extent(0) >= extent) return;
    auto grown = detail::uninitialised<std::decay_t<decltype(array)>>(label, extent);
    const auto kept = std::make_pair(std::size_t{0}, array.extent(0));
    Kokkos::deep_copy(space, Kokkos::subview(grown, kept), array);
    array = grown;
  };
  grow(atoms.positions, "positions");
  grow(atoms.forces, "forces");
}

/// Copies a state's atoms to `Space`, in its order. Waits.
template <class Real, class Space>
[[nodiscard]] Atoms<Real, Space> upload(const Space& space, const State& state) {
  Atoms<Real, Space> atoms;
  const std::size_t owned = state.ids.size();
  atoms.owned = static_cast<int>(owned);
  atoms.positions = decltype(atoms.positions)("positions", owned);
  atoms.forces = decltype(atoms.forces)("forces", owned);
  atoms.velocities = decltype(atoms.velocities)("velocities", owned);
  atoms.ids = decltype(atoms.ids)("ids", owned);
  atoms.images = decltype(atoms.images)("images", owned);
  const auto positions = Kokkos::create_mirror_view(atoms.positions);
  const auto velocities = Kokkos::create_mirror_view(atoms.velocities);
  const auto ids = Kokkos::create_mirror_view(atoms.ids);
  const auto images = Kokkos::create_mirror_view(atoms.images);
  for (std::size_t i = 0; i < owned; ++i) {
    const auto x = detail::narrowed<Real>(state.positions[i]);
    positions(i) = {x.x, x.y, x.z, 0};
    velocities(i) = detail::narrowed<Real>(state.velocities[i]);
    ids(i) = state.ids[i];
    images(i) = state.images[i];
  }
  Kokkos::deep_copy(space, atoms.positions, positions);
  Kokkos::deep_copy(space, atoms.velocities, velocities);
  Kokkos::deep_copy(space, atoms.ids, ids);
  Kokkos::deep_copy(space, atoms.images, images);
  space.fence("md: atoms copied");
  return atoms;
}

/// Copies the owned atoms back, in their present order. Waits. Fills all but the state's box and step.
template <class Real, class Space>
[[nodiscard]] State download(const Space& space, const Atoms<Real, Space>& atoms) {
  space.fence("md: before reading the atoms");
  const auto positions = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, atoms.positions);
  const auto velocities = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, atoms.velocities);
  const auto ids = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, atoms.ids);
  const auto images = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, atoms.images);
  State state;
  for (int i = 0; i < atoms.owned; ++i) {
    const Position<Real>& x = positions(i);
    const Vec3<Real>& v = velocities(i);
    state.ids.push_back(ids(i));
    state.positions.push_back({x.x, x.y, x.z});
    state.velocities.push_back({v.x, v.y, v.z});
    state.images.push_back(images(i));
  }
  return state;
}

/// Copies the owned positions to an array of their own, which grows where it has to.
template <class Real, class Space>
void remember_positions(const Space& space, const Atoms<Real, Space>& atoms,
                        typename Atoms<Real, Space>::template Array<Position<Real>>& copy) {
  const auto to = detail::reserve(copy, "listed positions", static_cast<std::size_t>(atoms.owned));
  Kokkos::deep_copy(space, to, Kokkos::subview(atoms.positions, std::make_pair(0, atoms.owned)));
}

namespace detail {

template <class Real>
struct PeriodicAxis {
  Real lower, upper, length;
  KOKKOS_FUNCTION void wrap(Real& x, std::int32_t& image) const {
    if (x >= lower && x < upper) return;
    const Real crossings = Kokkos::floor((x - lower) / length);
    x -= crossings * length;
    image += static_cast<std::int32_t>(crossings);
    // Rounding may leave it just outside.
    if (x < lower) x = lower;
    if (x >= upper) {
      x = lower;
      ++image;
    }
  }
};

/// Puts an atom that has left the box back, and counts that in its images.
template <class Real, class Space>
struct WrapAtom {
  PeriodicAxis<Real> x, y, z;
  typename Atoms<Real, Space>::template Array<Position<Real>> positions;
  typename Atoms<Real, Space>::template Array<Images> images;

  WrapAtom(const Atoms<Real, Space>& atoms, const Domain& domain)
      : x(axis(domain, 0)),
        y(axis(domain, 1)),
        z(axis(domain, 2)),
        positions(atoms.positions),
        images(atoms.images) {}

  /// \return where it is then
  KOKKOS_FUNCTION Position<Real> operator()(int i) const {
    Position<Real> position = positions(i);
    Images image = images(i);
    x.wrap(position.x, image.x);
    y.wrap(position.y, image.y);
    z.wrap(position.z, image.z);
    positions(i) = position;
    images(i) = image;
    return position;
  }

 private:
  static PeriodicAxis<Real> axis(const Domain& domain, int a) {
    return {static_cast<Real>(domain.lower[a]), static_cast<Real>(domain.upper[a]),
            static_cast<Real>(domain.length(a))};
  }
};

}  // namespace detail

/// Wraps owned atoms that have left the box, and counts it in their images.
template <class Real, class Space>
void wrap(const Space& space, const Atoms<Real, Space>& atoms, const Domain& domain) {
  const detail::WrapAtom<Real, Space> wrap_atom(atoms, domain);
  Kokkos::parallel_for(
      "md::wrap", Kokkos::RangePolicy<Space>(space, 0, atoms.owned),
      KOKKOS_LAMBDA(int i) { static_cast<void>(wrap_atom(i)); });
}

}  // namespace selvage::md
