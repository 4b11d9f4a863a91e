#pragma once

#include "md/engine_options.hpp"
#include "md/physics/atoms.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace selvage::md {

/// A Nose-Hoover thermostat without a chain (Hoover, PRA 31, 1985), stepped reversibly on both sides of velocity Verlet
/// (Martyna, Tuckerman, Tobias and Klein, Mol. Phys. 87, 1996). Two numbers are its whole state, the same on all ranks;
/// energy() and the atoms' energy together stay what they are.
class NoseHoover {
 public:
  /// \param state  friction and position, as state() gives them
  NoseHoover(const NoseHooverOptions& options, double dt, std::int64_t atoms,
             const std::array<double, 2>& state)
      : quarter_(dt / 4),
        friction_(state[0]),
        position_(state[1]),
        wanted_(std::max(3.0 * static_cast<double>(atoms) - 3.0, 1.0) * options.temperature),
        mass_(wanted_ * options.damping * options.damping) {}

  /// Half a step. \param squared_speed  over all atoms of all ranks
  /// \return what all velocities are to be multiplied with
  [[nodiscard]] double half_step(double squared_speed) {
    friction_ += quarter_ * (squared_speed - wanted_) / mass_;
    const double factor = std::exp(-2 * quarter_ * friction_);
    position_ += 2 * quarter_ * friction_;
    friction_ += quarter_ * (factor * factor * squared_speed - wanted_) / mass_;
    return factor;
  }

  /// In epsilon, of the whole system.
  [[nodiscard]] double energy() const { return mass_ * friction_ * friction_ / 2 + wanted_ * position_; }
  [[nodiscard]] std::array<double, 2> state() const { return {friction_, position_}; }

 private:
  double quarter_;   ///< of a step, tau
  double friction_;  ///< 1 / tau
  double position_;
  double wanted_;  ///< degrees of freedom times temperature
  double mass_;    ///< epsilon tau^2
};

/// Multiplies the owned atoms' velocities. Enqueues.
template <class Real, class Space>
void scale_velocities(const Space& space, const Atoms<Real, Space>& atoms, double factor) {
  const auto velocities = atoms.velocities;
  const auto scale = static_cast<Real>(factor);
  Kokkos::parallel_for(
      "md::scale_velocities", Kokkos::RangePolicy<Space>(space, 0, atoms.owned), KOKKOS_LAMBDA(int i) {
        const Vec3<Real> v = velocities(i);
        velocities(i) = {scale * v.x, scale * v.y, scale * v.z};
      });
}

}  // namespace selvage::md
