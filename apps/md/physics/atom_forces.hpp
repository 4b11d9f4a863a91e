#pragma once

#include "md/io/state.hpp"
#include "md/physics/vectors.hpp"

#include <mpi.h>

#include <vector>

namespace selvage::md {

/// Atoms and the forces on them, in one order.
struct AtomForces {
  State state;  ///< without velocities and images
  std::vector<Vec3<double>> forces;
};

/// The atoms of all ranks on every rank, for few atoms: rank by rank, each in its own order. Collective; waits no longer
/// than SELVAGE_TIMEOUT_MS.
/// \param own     this rank's atoms
/// \param forces  in the order of `own`
/// \throws Error{timeout} that names a rank which did not come
[[nodiscard]] AtomForces gather_forces(MPI_Comm comm, const State& own,
                                       const std::vector<Vec3<double>>& forces);

}  // namespace selvage::md
