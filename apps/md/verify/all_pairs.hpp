#pragma once

#include "md/io/state.hpp"

#include <vector>

namespace selvage::md {

/// The forces by a plain loop over all pairs and their images next to the box, in fp64 on one thread: the oracle of
/// lists, ghosts and cells. Its time grows with the square of the number of atoms.
/// \param cutoff  in sigma, at most the box's shortest side
/// \return one per atom, in the state's order
[[nodiscard]] std::vector<Vec3<double>> all_pair_forces(const State& state, double cutoff);

}  // namespace selvage::md
