#include "common/error_claim.hpp"

#include <selvage/error.hpp>

#include <atomic>

namespace selvage::app {

ErrorClaim::ErrorClaim(MPI_Comm comm) {
  check_mpi(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host_), "MPI_Comm_split_type");
  check_mpi(MPI_Comm_rank(host_, &host_rank_), "MPI_Comm_rank of the host's ranks");
  const MPI_Aint bytes = host_rank_ == 0 ? sizeof(std::uint64_t) : 0;
  void* own = nullptr;
  check_mpi(MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, host_, &own, &window_),
            "MPI_Win_allocate_shared");
  MPI_Aint first_bytes = 0;
  int unit = 0;
  check_mpi(MPI_Win_shared_query(window_, 0, &first_bytes, &unit, &taken_), "MPI_Win_shared_query");
  if (host_rank_ == 0) std::atomic_ref(*taken_).store(0, std::memory_order_relaxed);
  // Publishes the zero to the host's other ranks before any of them can claim.
  check_mpi(MPI_Barrier(host_), "MPI_Barrier of the host's ranks");
}

ErrorClaim::~ErrorClaim() {
  MPI_Win_free(&window_);
  MPI_Comm_free(&host_);
}

bool ErrorClaim::claim() {
  return std::atomic_ref(*taken_).exchange(1, std::memory_order_acq_rel) == 0;
}

}  // namespace selvage::app
