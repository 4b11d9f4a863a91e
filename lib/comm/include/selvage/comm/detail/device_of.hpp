#pragma once

#include <selvage/comm/detail/device_scope.hpp>

#include <Kokkos_Core.hpp>

namespace selvage::detail {

/// The number of the GPU that an execution space instance runs on; no_device where it runs on none.
template <class Space>
int device_of(const Space&) {
  return no_device;
}
#ifdef KOKKOS_ENABLE_CUDA
inline int device_of(const Kokkos::Cuda& space) {
  return space.cuda_device();
}
#endif

}  // namespace selvage::detail
