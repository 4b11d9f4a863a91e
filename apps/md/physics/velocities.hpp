#pragma once

#include "md/io/state.hpp"

#include <cstdint>

namespace selvage::md {

/// Gives every atom a random velocity, takes the mean out, and scales to the temperature.
///
/// Each component is drawn evenly from an interval around 0. An atom's draws depend on the seed and on the bits
/// of its position alone, so neither ids nor ranks matter: the bytes of the seed (32 bits) and of x, y, z go
/// through Jenkins's one-at-a-time hash; its low 27 bits seed the minimal standard generator of Park and Miller
/// (CACM 31, 1988), whose first five numbers are dropped. These are the velocities that LAMMPS's
/// `velocity all create T SEED loop geom` gives (found by comparing numbers).
/// \param temperature  in epsilon/k, with 3 N - 3 degrees of freedom; of at least 2 atoms
void draw_velocities(State& state, double temperature, std::int32_t seed);

}  // namespace selvage::md
