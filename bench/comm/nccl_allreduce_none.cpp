#include "nccl_allreduce.hpp"

namespace selvage::bench {

std::function<void()> make_nccl_allreduce(MPI_Comm, const Kokkos::DefaultExecutionSpace&,
                                          const Kokkos::View<float*>&) {
  return {};
}

}  // namespace selvage::bench
