#pragma once

#include <mpi.h>

#include <cstdint>

namespace selvage::app {

/// Lets exactly one of a host's ranks say what went wrong, however many notice it at the same time.
class ErrorClaim {
 public:
  /// Allocates one word in memory shared by the host's ranks. Collective.
  explicit ErrorClaim(MPI_Comm comm);
  /// Frees it. Collective, so only where all ranks end together.
  ~ErrorClaim();
  ErrorClaim(const ErrorClaim&) = delete;
  ErrorClaim& operator=(const ErrorClaim&) = delete;

  /// True for the first caller on this host. Needs no other rank's help.
  [[nodiscard]] bool claim();

  /// This rank's place among the host's ranks.
  [[nodiscard]] int host_rank() const { return host_rank_; }

 private:
  MPI_Comm host_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  std::uint64_t* taken_ = nullptr;
  int host_rank_ = 0;
};

}  // namespace selvage::app
