#pragma once

#include "md/engine_options.hpp"
#include "md/physics/vectors.hpp"

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>

namespace selvage::md {

/// The Ornstein-Uhlenbeck part of Langevin's equation, solved exactly for one step: v <- c v + sqrt((1 - c^2) T) n
/// with c = exp(-dt / damping) (Bussi and Parrinello, PRE 75, 2007). It follows the second half of each velocity
/// Verlet step. The normal numbers n come from a hash of seed, step and atom id, so they depend neither on ranks nor
/// on the order of atoms, and need no state in restart files.
template <class Real>
struct Langevin {
  bool is_on = false;
  double keep = 1;    ///< c
  double spread = 0;  ///< sqrt((1 - c^2) T)
  std::uint64_t seed = 0;

  static Langevin with(const LangevinOptions& options, double dt) {
    const double keep = std::exp(-dt / options.damping);
    return {true, keep, std::sqrt((1 - keep * keep) * options.temperature),
            static_cast<std::uint64_t>(options.seed)};
  }

  KOKKOS_FUNCTION void apply(Vec3<Real>& v, std::int64_t step, std::int64_t id) const {
    if (!is_on) return;
    const std::uint64_t key =
        mixed(mixed(mixed(seed) + static_cast<std::uint64_t>(step)) + static_cast<std::uint64_t>(id));
    double first, second, third, unused;
    normal_pair(mixed(key + 1), mixed(key + 2), first, second);
    normal_pair(mixed(key + 3), mixed(key + 4), third, unused);
    v.x = static_cast<Real>(keep * v.x + spread * first);
    v.y = static_cast<Real>(keep * v.y + spread * second);
    v.z = static_cast<Real>(keep * v.z + spread * third);
  }

 private:
  /// SplitMix64's step and finaliser (Steele, Lea and Flood, OOPSLA 2014).
  KOKKOS_FUNCTION static std::uint64_t mixed(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
  }

  /// Box and Muller's pair of normal numbers from 2 x 53 random bits.
  KOKKOS_FUNCTION static void normal_pair(std::uint64_t a, std::uint64_t b, double& first, double& second) {
    constexpr double unit = 1.0 / 9007199254740992.0;
    const double radius = Kokkos::sqrt(-2 * Kokkos::log((static_cast<double>(a >> 11) + 0.5) * unit));
    const double angle = 6.283185307179586 * (static_cast<double>(b >> 11) * unit);
    first = radius * Kokkos::cos(angle);
    second = radius * Kokkos::sin(angle);
  }
};

}  // namespace selvage::md
