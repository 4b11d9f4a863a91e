#include "md/physics/thermo.hpp"

#include <algorithm>
#include <cmath>

namespace selvage::md {

ThermoRow thermo_row(std::int64_t step, std::int64_t atoms, const Domain& domain, const PairSums& pairs,
                     const MotionSums& motion) {
  const auto count = static_cast<double>(atoms);
  // The centre of mass is at rest.
  const double freedom = std::max(3 * count - 3, 1.0);
  ThermoRow row;
  row.step = step;
  row.temperature = motion.squared_speed / freedom;
  row.pair_energy = pairs.energy / count;
  row.total_energy = row.pair_energy + 0.5 * motion.squared_speed / count;
  row.pressure = (motion.squared_speed + pairs.virial) / (3 * domain.volume());
  for (const double component : motion.momentum)
    row.momentum = std::max(row.momentum, std::abs(component) / count);
  return row;
}

}  // namespace selvage::md
