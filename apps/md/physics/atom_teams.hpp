#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>

namespace selvage::md {

/// Shares atoms among teams, with several lanes for an atom where a GPU would have too few threads otherwise. Small enough to
/// travel into kernels.
template <class Space>
class AtomTeams {
 public:
  using Policy = Kokkos::TeamPolicy<Space>;
  using Team = typename Policy::member_type;

  struct Range {
    int begin, end;
  };

  /// \param most_lanes  a power of 2 up to 32: how many one atom can use
  AtomTeams(const Space& space, int atoms, int most_lanes)
      : atoms_(atoms), lanes_(lanes_for(space, atoms, most_lanes)) {
    // The host's team is one thread, which likes few long loops.
    threads_ = on_host ? 1 : 128 / lanes_;
    of_team_ = on_host ? 1024 : threads_;
  }

  [[nodiscard]] int lanes() const { return lanes_; }
  /// One team at least.
  [[nodiscard]] Policy policy(const Space& space) const {
    return Policy(space, std::max(1, (atoms_ + of_team_ - 1) / of_team_), threads_, lanes_);
  }

  [[nodiscard]] KOKKOS_FUNCTION Range range(const Team& team) const {
    const int begin = team.league_rank() * of_team_;
    return {begin, begin + of_team_ < atoms_ ? begin + of_team_ : atoms_};
  }
  /// function(atom) by all lanes of a thread, which share it by ThreadVectorRange.
  template <class Function>
  KOKKOS_FUNCTION void each(const Team& team, const Function& function) const {
    const Range mine = range(team);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, mine.begin, mine.end), function);
  }

 private:
  static constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;

  static int lanes_for(const Space& space, int atoms, int most) {
    if (on_host) return 1;
    while (most > 1 && static_cast<std::int64_t>(atoms) * most > space.concurrency()) most /= 2;
    return most;
  }

  int atoms_;
  int lanes_;
  int threads_;
  int of_team_;
};

}  // namespace selvage::md
