#pragma once

#include "md/physics/atom_teams.hpp"
#include "md/physics/neighbour_list.hpp"
#include "md/physics/numbers.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace selvage::md {

/// 4 (r^-12 - r^-6) up to a cutoff, in units of epsilon and sigma; `shift` is what is taken off so that the energy
/// is 0 at the cutoff, or 0.
template <class Real>
struct LennardJones {
  Real squared_cutoff;
  Real shift;

  static LennardJones with(double cutoff, bool shifted) {
    const double inverse_6 = 1 / (cutoff * cutoff * cutoff * cutoff * cutoff * cutoff);
    return {static_cast<Real>(cutoff * cutoff),
            static_cast<Real>(shifted ? 4 * inverse_6 * (inverse_6 - 1) : 0)};
  }

  /// |force| / distance, positive where atoms repel. \param inverse_2  1 / distance^2
  [[nodiscard]] KOKKOS_FUNCTION Real force_over_distance(Real inverse_2) const {
    const Real inverse_6 = inverse_2 * inverse_2 * inverse_2;
    return (48 * inverse_6 - 24) * inverse_6 * inverse_2;
  }
  [[nodiscard]] KOKKOS_FUNCTION Real energy(Real inverse_2) const {
    const Real inverse_6 = inverse_2 * inverse_2 * inverse_2;
    return (4 * inverse_6 - 4) * inverse_6 - shift;
  }
};

/// What pairs add up to on one rank; a pair that two ranks list counts half on each.
struct PairSums {
  double energy = 0;  ///< epsilon
  double virial = 0;  ///< sum of force times distance, epsilon
};

namespace detail {

/// Where forces find ghosts: behind the owned positions.
template <class Real, class Space>
struct ListedGhosts {
  Kokkos::View<const Position<Real>*, typename Space::memory_space> positions;

  [[nodiscard]] KOKKOS_FUNCTION const Position<Real>* all() const { return positions.data(); }
  template <class Team>
  [[nodiscard]] KOKKOS_FUNCTION const Position<Real>* around(const Team&, int, int) const {
    return all();
  }
};

/// Or where other ranks' kernels put them (selvage::ListPort).
template <class Real, class Space, class Port>
struct PortGhosts {
  /// Owned positions, and ghosts elsewhere.
  struct Split {
    const Position<Real>* owned;
    const Position<Real>* ghosts;
    int first_ghost;
    KOKKOS_FUNCTION const Position<Real>& operator[](int atom) const {
      return atom < first_ghost ? owned[atom] : ghosts[atom - first_ghost];
    }
  };

  Kokkos::View<const Position<Real>*, typename Space::memory_space> positions;
  Kokkos::View<const bool*, typename Space::memory_space> at_side;
  Port port;
  int owned;

  /// After a kernel that has awaited them.
  [[nodiscard]] KOKKOS_FUNCTION Split all() const { return {positions.data(), port.ghosts(), owned}; }
  /// Teams whose atoms are all away from the box's sides don't wait.
  template <class Team>
  [[nodiscard]] KOKKOS_FUNCTION Split around(const Team& team, int begin, int end) const {
    // Somebody must await before atoms move again.
    bool wanted = team.league_rank() == 0;
    for (int atom = begin + team.team_rank(); atom < end; atom += team.team_size())
      wanted = wanted || at_side(atom);
    return {positions.data(), port.await(team, wanted), owned};
  }
};

/// Waits for ghosts, for all kernels after it.
template <class Space, class Port>
struct AwaitGhosts {
  Port port;
  KOKKOS_FUNCTION void operator()(const typename Kokkos::TeamPolicy<Space>::member_type& team) const {
    static_cast<void>(port.await(team));
  }
};

template <class Numbers, class Space, class Ghosts>
struct FullForces {
  using Stored = typename Numbers::Stored;
  using Computed = typename Numbers::Computed;

  LennardJones<Computed> law;
  NeighbourTable<Space> table;
  Kokkos::View<const Position<Stored>*, typename Space::memory_space> positions;
  Kokkos::View<Vec3<Stored>*, typename Space::memory_space> forces;
  Ghosts ghosts;
  bool stores = true;  ///< else only sums are wanted

  KOKKOS_FUNCTION void operator()(int atom) const {
    double energy = 0;
    double virial = 0;
    add<false>(atom, energy, virial);
  }
  KOKKOS_FUNCTION void operator()(int atom, double& energy, double& virial) const {
    add<true>(atom, energy, virial);
  }

  template <bool with_sums>
  KOKKOS_FUNCTION void add(int atom, double& energy, double& virial) const {
    const Position<Stored> x = positions(atom);
    const auto all = ghosts.all();
    const int count = table.counts(atom);
    Stored fx = 0;
    Stored fy = 0;
    Stored fz = 0;
    double own_energy = 0;
    double own_virial = 0;
#pragma omp simd reduction(+ : fx, fy, fz, own_energy, own_virial)
    for (int k = 0; k < count; ++k) {
      const Position<Stored>& other = all[table.neighbours(atom, k)];
      const auto dx = static_cast<Computed>(x.x - other.x);
      const auto dy = static_cast<Computed>(x.y - other.y);
      const auto dz = static_cast<Computed>(x.z - other.z);
      const Computed squared = dx * dx + dy * dy + dz * dz;
      const bool near = squared < law.squared_cutoff;
      const Computed inverse_2 = 1 / squared;
      const Computed force = near ? law.force_over_distance(inverse_2) : Computed(0);
      fx += dx * force;
      fy += dy * force;
      fz += dz * force;
      if constexpr (with_sums) {
        own_energy += near ? law.energy(inverse_2) : Computed(0);
        own_virial += force * squared;
      }
    }
    if (stores) forces(atom) = {fx, fy, fz};
    energy += 0.5 * own_energy;
    virial += 0.5 * own_virial;
  }
};

/// What lanes add up.
template <class Real>
struct ForceSum {
  Real x = 0;
  Real y = 0;
  Real z = 0;
  KOKKOS_FUNCTION ForceSum& operator+=(const ForceSum& other) {
    x += other.x;
    y += other.y;
    z += other.z;
    return *this;
  }
};

}  // namespace detail
}  // namespace selvage::md

template <class Real>
struct Kokkos::reduction_identity<selvage::md::detail::ForceSum<Real>> {
  KOKKOS_FUNCTION static selvage::md::detail::ForceSum<Real> sum() { return {}; }
};

namespace selvage::md {
namespace detail {

/// The same as FullForces by teams, several lanes for an atom where a GPU would have too few threads otherwise. Lanes' sums
/// are added in a fixed order, another one than a single thread's.
template <class Numbers, class Space, class Ghosts>
struct LaneForces {
  using Stored = typename Numbers::Stored;
  using Computed = typename Numbers::Computed;
  using Team = typename AtomTeams<Space>::Team;

  FullForces<Numbers, Space, Ghosts> full;
  AtomTeams<Space> teams;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const auto mine = teams.range(team);
    const auto all = full.ghosts.around(team, mine.begin, mine.end);
    teams.each(team, [&](int atom) { add(team, atom, all); });
  }

 private:
  template <class Positions>
  KOKKOS_FUNCTION void add(const Team& team, int atom, const Positions& all) const {
    const Position<Stored> x = full.positions(atom);
    const LennardJones<Computed> law = full.law;
    ForceSum<Stored> force;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, full.table.counts(atom)),
        [&](int k, ForceSum<Stored>& sum) {
          const Position<Stored>& other = all[full.table.neighbours(atom, k)];
          const auto dx = static_cast<Computed>(x.x - other.x);
          const auto dy = static_cast<Computed>(x.y - other.y);
          const auto dz = static_cast<Computed>(x.z - other.z);
          const Computed squared = dx * dx + dy * dy + dz * dz;
          if (squared >= law.squared_cutoff) return;
          const Computed pair = law.force_over_distance(1 / squared);
          sum += {static_cast<Stored>(dx * pair), static_cast<Stored>(dy * pair),
                  static_cast<Stored>(dz * pair)};
        },
        force);
    Kokkos::single(Kokkos::PerThread(team), [&]() { full.forces(atom) = {force.x, force.y, force.z}; });
  }
};

/// More would leave the rest of a row of the table without use to a warp.
inline constexpr int most_force_lanes = 8;

#ifdef KOKKOS_ENABLE_SERIAL
template <class Space>
inline constexpr bool is_serial_space = std::is_same_v<Space, Kokkos::Serial>;
#else
template <class Space>
inline constexpr bool is_serial_space = false;
#endif

template <class Numbers, class Space>
struct HalfForces {
  using Stored = typename Numbers::Stored;
  using Computed = typename Numbers::Computed;

  LennardJones<Computed> law;
  NeighbourTable<Space> table;
  Kokkos::View<const Position<Stored>*, typename Space::memory_space> positions;
  Kokkos::View<Vec3<Stored>*, typename Space::memory_space> forces;

  KOKKOS_FUNCTION void operator()(int atom) const {
    double energy = 0;
    double virial = 0;
    add<false>(atom, energy, virial);
  }
  KOKKOS_FUNCTION void operator()(int atom, double& energy, double& virial) const {
    add<true>(atom, energy, virial);
  }

  template <bool with_sums>
  KOKKOS_FUNCTION void add(int atom, double& energy, double& virial) const {
    const Position<Stored> x = positions(atom);
    const int count = table.counts(atom);
    Vec3<Stored> own = {0, 0, 0};
    for (int k = 0; k < count; ++k) {
      const int neighbour = table.neighbours(atom, k);
      const Position<Stored> other = positions(neighbour);
      const auto dx = static_cast<Computed>(x.x - other.x);
      const auto dy = static_cast<Computed>(x.y - other.y);
      const auto dz = static_cast<Computed>(x.z - other.z);
      const Computed squared = dx * dx + dy * dy + dz * dz;
      if (squared >= law.squared_cutoff) continue;
      const Computed inverse_2 = 1 / squared;
      const Computed force = law.force_over_distance(inverse_2);
      own = {own.x + dx * force, own.y + dy * force, own.z + dz * force};
      subtract(neighbour, {dx * force, dy * force, dz * force});
      if constexpr (with_sums) {
        energy += law.energy(inverse_2);
        virial += force * squared;
      }
    }
    subtract(atom, {-own.x, -own.y, -own.z});
  }

  KOKKOS_FUNCTION void subtract(int atom, const Vec3<Stored>& f) const {
    Vec3<Stored>& sum = forces(atom);
    if constexpr (is_serial_space<Space>) {
      sum = {sum.x - f.x, sum.y - f.y, sum.z - f.z};
    } else {
      Kokkos::atomic_sub(&sum.x, f.x);
      Kokkos::atomic_sub(&sum.y, f.y);
      Kokkos::atomic_sub(&sum.z, f.z);
    }
  }
};

/// Whether sums take a pass of their own, because forces would differ in their last bits otherwise. In threads of hosts, GCC
/// contracts the loop that also sums into other fused multiply-adds than the one that doesn't. With floats, the doubles of the
/// sums halve the vectors' length, and with it the order in which forces are added.
template <class Numbers, class Space>
inline constexpr bool sums_apart = Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible &&
                                   (!is_serial_space<Space> ||
                                    sizeof(typename Numbers::Stored) < sizeof(double));

template <class Functor, class Space>
void run_forces(const Space& space, int atoms, const Functor& functor, PairSums* sums) {
  const Kokkos::RangePolicy<Space> policy(space, 0, atoms);
  if (sums == nullptr) {
    Kokkos::parallel_for("md::forces", policy, functor);
  } else {
    Kokkos::parallel_reduce("md::forces_and_sums", policy, functor, sums->energy, sums->virial);
  }
}

template <class Numbers, class Space, class Ghosts>
void run_lanes(const Space& space, const FullForces<Numbers, Space, Ghosts>& functor,
               const AtomTeams<Space>& teams) {
  Kokkos::parallel_for("md::forces", teams.policy(space), LaneForces<Numbers, Space, Ghosts>{functor, teams});
}

}  // namespace detail

/// The forces of all listed pairs: on owned atoms, and with a half list on ghosts too. Enqueues; with `sums`, waits.
/// \param sums  nullptr, or what the pairs add up to
template <class Numbers, class Space>
void compute_forces(const Space& space, const LennardJones<typename Numbers::Computed>& law,
                    const Atoms<typename Numbers::Stored, Space>& atoms, ListKind kind,
                    const NeighbourTable<Space>& table, PairSums* sums) {
  if (kind == ListKind::full) {
    using Ghosts = detail::ListedGhosts<typename Numbers::Stored, Space>;
    detail::FullForces<Numbers, Space, Ghosts> functor{law, table, atoms.positions, atoms.forces,
                                                       Ghosts{atoms.positions}};
    const AtomTeams<Space> teams(space, atoms.owned, detail::most_force_lanes);
    const bool by_lanes = teams.lanes() > 1;
    if (by_lanes) detail::run_lanes(space, functor, teams);
    if (by_lanes || (sums != nullptr && detail::sums_apart<Numbers, Space>)) {
      if (!by_lanes) detail::run_forces(space, atoms.owned, functor, nullptr);
      // Forces must not depend on whether something is measured.
      functor.stores = false;
      if (sums == nullptr) return;
    }
    detail::run_forces(space, atoms.owned, functor, sums);
    return;
  }
  Kokkos::deep_copy(space, Kokkos::subview(atoms.forces, std::make_pair(0, atoms.all())),
                    Vec3<typename Numbers::Stored>{0, 0, 0});
  const detail::HalfForces<Numbers, Space> functor{law, table, atoms.positions, atoms.forces};
  detail::run_forces(space, atoms.owned, functor, sums);
}

/// The same with a full list, where other ranks' kernels put the ghosts. Few atoms: those near the box's sides wait until
/// they are there, others don't. Many: all wait, in a kernel of its own, which takes less than what each wait costs the
/// caches of a multiprocessor. Enqueues.
/// \param port  a ListPort of positions, after the launch that puts them
template <class Numbers, class Space, class Port>
void compute_forces_with_port(const Space& space, const LennardJones<typename Numbers::Computed>& law,
                              const Atoms<typename Numbers::Stored, Space>& atoms,
                              const NeighbourTable<Space>& table, const Port& port) {
  using Ghosts = detail::PortGhosts<typename Numbers::Stored, Space, Port>;
  const detail::FullForces<Numbers, Space, Ghosts> functor{
      law, table, atoms.positions, atoms.forces, Ghosts{atoms.positions, table.at_side, port, atoms.owned}};
  const AtomTeams<Space> teams(space, atoms.owned, detail::most_force_lanes);
  if (teams.lanes() > 1) {
    detail::run_lanes(space, functor, teams);
    return;
  }
  Kokkos::parallel_for("md::await_ghosts", Kokkos::TeamPolicy<Space>(space, 1, 1),
                       detail::AwaitGhosts<Space, Port>{port});
  detail::run_forces(space, atoms.owned, functor, nullptr);
}

}  // namespace selvage::md
