#include "nccl_halo.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>
#include <nccl.h>

#include <memory>
#include <string_view>

namespace selvage::bench {
namespace {

void check(ncclResult_t code, std::string_view call) {
  if (code == ncclSuccess) return;
  throw Error(ErrorKind::cuda, fmt::format("{} failed: {}", call, ncclGetErrorString(code)),
              static_cast<int>(code));
}

/// One communicator per process, for all shapes: making one takes a second.
ncclComm_t communicator(MPI_Comm comm) {
  static const ncclComm_t made = [&] {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    ncclUniqueId id;
    if (rank == 0) check(ncclGetUniqueId(&id), "ncclGetUniqueId");
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, comm);
    ncclComm_t communicator = nullptr;
    check(ncclCommInitRank(&communicator, size, id, rank), "ncclCommInitRank");
    return communicator;
  }();
  return made;
}

void exchange(ncclComm_t comm, const PackedFaces& faces) {
  cudaStream_t stream = faces.space().cuda_stream();
  faces.pack();
  check(ncclGroupStart(), "ncclGroupStart");
  for (const auto& face : faces.faces()) {
    check(ncclSend(face.sent.data(), face.sent.size(), ncclDouble, face.rank, comm, stream), "ncclSend");
    check(ncclRecv(face.received.data(), face.received.size(), ncclDouble, face.rank, comm, stream),
          "ncclRecv");
  }
  check(ncclGroupEnd(), "ncclGroupEnd");
  for (const auto& face : faces.faces()) faces.unpack(face);
}

}  // namespace

std::pair<std::function<void()>, std::function<void()>> make_nccl_halos(MPI_Comm comm,
                                                                        const PackedFaces& first,
                                                                        const PackedFaces& second) {
  ncclComm_t made = communicator(comm);
  return {[made, first] { exchange(made, first); }, [made, second] { exchange(made, second); }};
}

}  // namespace selvage::bench
