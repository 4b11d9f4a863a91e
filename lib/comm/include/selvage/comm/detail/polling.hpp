#pragma once

#include <selvage/comm/detail/signal.hpp>

#include <Kokkos_Core.hpp>
#include <sched.h>

#include <cstdint>

namespace selvage::detail {

/// Gives way between two polls: on a host to the thread that is waited for, on a device to the memory system.
KOKKOS_INLINE_FUNCTION void pause_polling() {
  KOKKOS_IF_ON_DEVICE((__nanosleep(50);))
  KOKKOS_IF_ON_HOST((sched_yield();))
}

/// Polls `done`, in a kernel or on a host, until it is true. \return false when the time has run out
template <class Done>
[[nodiscard]] KOKKOS_INLINE_FUNCTION bool poll_until(const Done& done, std::uint64_t timeout_ns) {
  if (done()) return true;
  const std::uint64_t start = clock_ns();
  while (!done()) {
    // It may have come while this thread had no core.
    if (clock_ns() - start > timeout_ns) return done();
    pause_polling();
  }
  return true;
}

/// When it returns true, all that was done before the word was released at `wanted` is visible here.
struct HasReached {
  const std::uint64_t* word;
  std::uint64_t wanted;
  KOKKOS_FUNCTION bool operator()() const { return has_reached(acquire_word(*word), wanted); }
};

/// One item of a team polls, then all go on. \return false, on all of them, when the time has run out
template <class Team>
[[nodiscard]] KOKKOS_FUNCTION bool wait_until(const Team& team, const HasReached& done,
                                              std::uint64_t timeout_ns) {
  bool has_come = false;
  Kokkos::single(
      Kokkos::PerTeam(team), [&](bool& reached) { reached = poll_until(done, timeout_ns); }, has_come);
  team.team_barrier();
  return has_come;
}

}  // namespace selvage::detail
