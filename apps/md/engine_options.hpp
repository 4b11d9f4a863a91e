#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <optional>

namespace selvage::md {

enum class ListKind {
  full,  ///< a pair is in both atoms' lists: twice the arithmetic, nothing but one's own force is written
  half   ///< a pair is in one list: forces on neighbours are added there, on ghosts too
};

/// What md takes by itself. Full lists leave nothing to be stored but an atom's own force, so that GPUs need no atomics and
/// hosts vectorise the loop over neighbours; but fetching neighbours by vectors pays only where vectors are wide.
#if defined(KOKKOS_ENABLE_CUDA) || defined(__AVX2__) || defined(__ARM_FEATURE_SVE)
inline constexpr ListKind list_of_build = ListKind::full;
#else
inline constexpr ListKind list_of_build = ListKind::half;
#endif

/// What a Langevin thermostat is told.
struct LangevinOptions {
  double temperature = 1;  ///< epsilon/k
  double damping = 1;      ///< the time in which a velocity forgets, in tau
  std::int64_t seed = 1;
};

/// What a Nose-Hoover thermostat is told.
struct NoseHooverOptions {
  double temperature = 1;  ///< epsilon/k, above 0
  double damping = 1;      ///< the time in which it answers, in tau
};

/// When planes between ranks move, so that ranks hold as many atoms each.
struct BalanceOptions {
  double threshold = 1.05;  ///< the largest number of atoms over the mean, beyond which they do
  int every = 1;            ///< rebuilds between looks at it
};

/// Closer atoms overlap: their energy is above 4e8 epsilon.
inline constexpr double closest_allowed = 0.2;

/// What an engine computes. Lengths in sigma, times in tau.
struct EngineOptions {
  double dt = 0.005;
  double cutoff = 2.5;
  bool shifted = false;  ///< the energy is 0 at the cutoff
  double skin = 0.3;
  ListKind list = ListKind::full;
  int rebuild_every = 20;            ///< steps between rebuilds, or between checks of the displacement
  bool checks_displacement = false;  ///< rebuild only once an atom has moved half the skin
  bool counts_dangerous = true;      ///< see Engine::dangerous_rebuilds()
  std::optional<LangevinOptions> langevin = {};
  std::optional<NoseHooverOptions> nose_hoover = {};
  std::optional<BalanceOptions> balance = {};  ///< nothing: planes stay where they are

  [[nodiscard]] double list_cutoff() const { return cutoff + skin; }
};

}  // namespace selvage::md
