#pragma once

#include <selvage/comm/detail/device_scope.hpp>

#include <Kokkos_Core.hpp>

namespace selvage::detail {

/// Whether the library knows when an execution space is done, and where its memory lies.
template <class Space>
inline constexpr bool is_supported_space = false;
#ifdef KOKKOS_ENABLE_SERIAL
template <>
inline constexpr bool is_supported_space<Kokkos::Serial> = true;
#endif
#ifdef KOKKOS_ENABLE_OPENMP
template <>
inline constexpr bool is_supported_space<Kokkos::OpenMP> = true;
#endif
#ifdef KOKKOS_ENABLE_THREADS
template <>
inline constexpr bool is_supported_space<Kokkos::Threads> = true;
#endif
#ifdef KOKKOS_ENABLE_CUDA
template <>
inline constexpr bool is_supported_space<Kokkos::Cuda> = true;
#endif

/// The number of the GPU that an execution space instance runs on; no_device where it runs on none.
template <class Space>
int device_of(const Space&) {
  static_assert(is_supported_space<Space>,
                "selvage runs on Kokkos::Serial, OpenMP, Threads and Cuda: pass an instance of one of these");
  return no_device;
}
#ifdef KOKKOS_ENABLE_CUDA
inline int device_of(const Kokkos::Cuda& space) {
  return space.cuda_device();
}
#endif

}  // namespace selvage::detail
