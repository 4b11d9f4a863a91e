#include "device.hpp"

#include <mpi.h>

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace selvage::detail {

#if defined(MPIX_CUDA_AWARE_SUPPORT)
std::string gpu_aware_mpi_refusal() {
  return MPIX_Query_cuda_support() == 1
             ? ""
             : "this MPI takes no device pointers (MPIX_Query_cuda_support() is 0)";
}
#else
std::string gpu_aware_mpi_refusal() {
  return "this MPI does not say that it takes device pointers (no MPIX_Query_cuda_support)";
}
#endif

}  // namespace selvage::detail
