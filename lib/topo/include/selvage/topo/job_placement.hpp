#pragma once

#include <selvage/topo/placement.hpp>

#include <mpi.h>

namespace selvage::topo {

/// Places the ranks of a job by the portfolio: rank 0 maps, the others are told. Collective.
/// \param problem  read on rank 0 only
/// \throws Error on every rank, of the kind that rank 0 met; Error{mpi}
[[nodiscard]] Placement place_job(MPI_Comm comm, const MappingProblem& problem);

/// A communicator of the same processes in which rank r is the one in the slot that the placement gives to rank r,
/// slot i being process i of `comm`. Collective; the caller frees it.
/// \throws Error{input} on every rank unless the placement has a rank for each process; Error{mpi}
[[nodiscard]] MPI_Comm reordered(MPI_Comm comm, const Placement& placement);

}  // namespace selvage::topo
