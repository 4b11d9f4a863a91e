#pragma once

#include "md/ghosts/domain.hpp"
#include "md/physics/atoms.hpp"
#include "md/physics/lennard_jones.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace selvage::md {

/// What velocities add up to; masses are 1.
struct MotionSums {
  double squared_speed = 0;
  double momentum[3] = {0, 0, 0};
};

/// Sums over the owned atoms, in fp64. Waits.
template <class Real, class Space>
[[nodiscard]] MotionSums sum_motion(const Space& space, const Atoms<Real, Space>& atoms) {
  const auto velocities = atoms.velocities;
  MotionSums sums;
  Kokkos::parallel_reduce(
      "md::sum_motion", Kokkos::RangePolicy<Space>(space, 0, atoms.owned),
      KOKKOS_LAMBDA(int i, double& squared, double& x, double& y, double& z) {
        const Vec3<Real> v = velocities(i);
        const double vx = v.x;
        const double vy = v.y;
        const double vz = v.z;
        squared += vx * vx + vy * vy + vz * vz;
        x += vx;
        y += vy;
        z += vz;
      },
      sums.squared_speed, sums.momentum[0], sums.momentum[1], sums.momentum[2]);
  return sums;
}

/// One row of the thermo table, as LAMMPS defines its columns in units lj with energies per atom.
struct ThermoRow {
  std::int64_t step = 0;
  double temperature = 0;   ///< with 3 N - 3 degrees of freedom
  double pair_energy = 0;   ///< per atom
  double total_energy = 0;  ///< per atom
  double pressure = 0;      ///< kinetic part and virial
  double momentum = 0;      ///< the largest component of the total momentum, per atom
};

[[nodiscard]] ThermoRow thermo_row(std::int64_t step, std::int64_t atoms, const Domain& domain,
                                   const PairSums& pairs, const MotionSums& motion);

}  // namespace selvage::md
