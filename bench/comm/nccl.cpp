#include "nccl.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

namespace selvage::bench {

void check_nccl(ncclResult_t code, std::string_view call) {
  if (code == ncclSuccess) return;
  throw Error(ErrorKind::cuda, fmt::format("{} failed: {}", call, ncclGetErrorString(code)),
              static_cast<int>(code));
}

ncclComm_t nccl_communicator(MPI_Comm comm) {
  static const ncclComm_t made = [&] {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    ncclUniqueId id;
    if (rank == 0) check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, comm);
    ncclComm_t communicator = nullptr;
    check_nccl(ncclCommInitRank(&communicator, size, id, rank), "ncclCommInitRank");
    return communicator;
  }();
  return made;
}

}  // namespace selvage::bench
