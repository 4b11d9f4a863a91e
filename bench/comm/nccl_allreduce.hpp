#pragma once

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <functional>

namespace selvage::bench {

/// ncclAllReduce in place, enqueued on the instance; empty in a build without NCCL.
[[nodiscard]] std::function<void()> make_nccl_allreduce(MPI_Comm comm,
                                                        const Kokkos::DefaultExecutionSpace& space,
                                                        const Kokkos::View<float*>& view);

}  // namespace selvage::bench
