#pragma once

#include <mpi.h>
#include <nccl.h>

#include <string_view>

namespace selvage::bench {

/// \throws Error{cuda}
void check_nccl(ncclResult_t code, std::string_view call);

/// One communicator per process, for all figures: making one takes a second.
[[nodiscard]] ncclComm_t nccl_communicator(MPI_Comm comm);

}  // namespace selvage::bench
