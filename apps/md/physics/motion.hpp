#pragma once

#include "md/physics/atoms.hpp"
#include "md/physics/mirrored.hpp"
#include "md/physics/thermostat.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace selvage::md {

/// The first atom that moved too far in one step.
struct Runaway {
  std::int64_t step;
  std::int64_t id;
};

/// What a MotionWatch has seen.
struct Sighting {
  std::optional<Runaway> runaway;
  bool found_strays;  ///< what find_strays() last found, if it ever looked
};

/// Notices atoms that move further than they should, without waiting for the kernels that move them or look at them: in one
/// step, or since they were listed.
template <class Space>
class MotionWatch {
 public:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  /// A runaway's step and id, and 1 where find_strays() has found one.
  using Seen = Kokkos::View<std::int64_t[3], typename Space::memory_space>;

  explicit MotionWatch(const Space& space) : seen_("atoms that moved too far") {
    Kokkos::deep_copy(space, seen_.view(), none);
  }

  /// Notes an atom of `step`; of several in the first such step the lowest id stays.
  KOKKOS_FUNCTION static void note(const Seen& seen, std::int64_t step, std::int64_t id) {
    const std::int64_t first = Kokkos::atomic_load(&seen(0));
    if (first != none && first != step) return;
    Kokkos::atomic_store(&seen(0), step);
    Kokkos::atomic_min(&seen(1), id);
  }

  [[nodiscard]] const Seen& seen() const { return seen_.view(); }
  /// Where find_strays() leaves what it has found.
  [[nodiscard]] auto strays() const { return Kokkos::subview(seen_.view(), 2); }

  /// Waits for what was enqueued.
  [[nodiscard]] Sighting look(const Space& space) const {
    const auto host = seen_.read(space);
    Sighting sighting{{}, host(2) == 1};
    if (host(0) != none) sighting.runaway = Runaway{host(0), host(1)};
    return sighting;
  }

 private:
  Mirrored<std::int64_t[3], Space> seen_;
};

namespace detail {

/// Velocity Verlet on one atom: what ends a step, what begins the next, or both in one pass over memory. Each is
/// rounded by itself, so that passes may be joined without changing a bit.
template <class Real, class Space>
struct Move {
  Kokkos::View<Position<Real>*, typename Space::memory_space> positions;
  Kokkos::View<Vec3<Real>*, typename Space::memory_space> velocities;
  Kokkos::View<const Vec3<Real>*, typename Space::memory_space> forces;
  Kokkos::View<const std::int64_t*, typename Space::memory_space> ids;
  typename MotionWatch<Space>::Seen seen;
  Langevin<Real> langevin;
  Real dt;
  Real squared_limit;  ///< of the distance per step
  std::int64_t step;   ///< the one that ends
  bool ends;
  bool begins;

  KOKKOS_FUNCTION void operator()(int i) const { static_cast<void>(advance(i)); }
  /// \return where the atom is then; nothing of use where no step begins
  KOKKOS_FUNCTION Position<Real> advance(int i) const {
    const Real half = dt / 2;
    Position<Real> at{};
    Vec3<Real> v = velocities(i);
    const Vec3<Real> f = forces(i);
    if (ends) {
      v = {v.x + half * f.x, v.y + half * f.y, v.z + half * f.z};
      if (langevin.is_on) langevin.apply(v, step, ids(i));
    }
    if (begins) {
      v = {v.x + half * f.x, v.y + half * f.y, v.z + half * f.z};
      const Position<Real> x = positions(i);
      at = {x.x + dt * v.x, x.y + dt * v.y, x.z + dt * v.z, 0};
      positions(i) = at;
      // Written so that NaN counts too.
      if (!(dt * dt * (v.x * v.x + v.y * v.y + v.z * v.z) <= squared_limit)) {
        MotionWatch<Space>::note(seen, step + 1, ids(i));
      }
    }
    velocities(i) = v;
    return at;
  }
};

/// The same, and sends each atom's ghosts as soon as it has moved.
/// \tparam Sender  see RankGhosts::Sender
template <class Real, class Space, class Sender>
struct MoveAndSend {
  using Policy = Kokkos::TeamPolicy<Space>;
  static constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;
  static constexpr int threads = on_host ? 1 : 128;
  static constexpr int atoms_of_team = on_host ? 4096 : threads;

  Move<Real, Space> move;
  Sender sender;
  int atoms;

  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& team) const {
    const auto turn = sender.port.open(team);
    const int begin = team.league_rank() * atoms_of_team;
    const int end = begin + atoms_of_team < atoms ? begin + atoms_of_team : atoms;
    for (int i = begin + team.team_rank(); i < end; i += team.team_size())
      sender.send(turn, i, move.advance(i));
  }
};

}  // namespace detail

/// Velocity Verlet with unit masses (Swope et al., JCP 76, 1982), and the thermostat at the end of each step.
template <class Real, class Space>
class Motion {
 public:
  /// \param limit  the distance in one step from which an atom counts as a runaway
  Motion(const Space& space, double dt, double limit, const std::optional<LangevinOptions>& langevin)
      : dt_(dt), limit_(limit), watch_(space) {
    if (langevin) langevin_ = Langevin<Real>::with(*langevin, dt);
  }

  /// Each enqueues. \param step  the step that ends, or the one before that which begins
  void end_step(const Space& space, const Atoms<Real, Space>& atoms, std::int64_t step) const {
    move(space, atoms, step, true, false);
  }
  void begin_step(const Space& space, const Atoms<Real, Space>& atoms, std::int64_t step) const {
    move(space, atoms, step, false, true);
  }
  void end_and_begin_step(const Space& space, const Atoms<Real, Space>& atoms, std::int64_t step) const {
    move(space, atoms, step, true, true);
  }

  /// The same as the last two, where ghosts are sent on the way. \param ends  whether a step ends, too
  template <class Sender>
  void begin_step_and_send(const Space& space, const Atoms<Real, Space>& atoms, std::int64_t step, bool ends,
                           const Sender& sender) const {
    using Send = detail::MoveAndSend<Real, Space, Sender>;
    // One team at least: others wait for what this rank releases, whether it has atoms or not.
    const int teams = std::max(1, (atoms.owned + Send::atoms_of_team - 1) / Send::atoms_of_team);
    Kokkos::parallel_for("md::move_and_send", typename Send::Policy(space, teams, Send::threads),
                         Send{functor(atoms, step, ends, true), sender, atoms.owned});
  }

  [[nodiscard]] const MotionWatch<Space>& watch() const { return watch_; }

 private:
  void move(const Space& space, const Atoms<Real, Space>& atoms, std::int64_t step, bool ends,
            bool begins) const {
    Kokkos::parallel_for("md::move", Kokkos::RangePolicy<Space>(space, 0, atoms.owned),
                         functor(atoms, step, ends, begins));
  }
  [[nodiscard]] detail::Move<Real, Space> functor(const Atoms<Real, Space>& atoms, std::int64_t step,
                                                  bool ends, bool begins) const {
    return {atoms.positions,
            atoms.velocities,
            atoms.forces,
            atoms.ids,
            watch_.seen(),
            langevin_,
            static_cast<Real>(dt_),
            static_cast<Real>(limit_ * limit_),
            step,
            ends,
            begins};
  }

  double dt_;
  double limit_;
  MotionWatch<Space> watch_;
  Langevin<Real> langevin_;
};

}  // namespace selvage::md
