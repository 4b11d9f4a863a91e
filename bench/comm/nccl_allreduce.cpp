#include "nccl_allreduce.hpp"

#include "nccl.hpp"

namespace selvage::bench {

std::function<void()> make_nccl_allreduce(MPI_Comm comm, const Kokkos::DefaultExecutionSpace& space,
                                          const Kokkos::View<float*>& view) {
  ncclComm_t made = nccl_communicator(comm);
  return [made, space, view] {
    check_nccl(
        ncclAllReduce(view.data(), view.data(), view.size(), ncclFloat, ncclSum, made, space.cuda_stream()),
        "ncclAllReduce");
  };
}

}  // namespace selvage::bench
