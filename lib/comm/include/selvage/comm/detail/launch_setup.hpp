#pragma once

#include <Kokkos_Core.hpp>

namespace selvage::detail {

/// Adds a function that set_up_launches() calls. Before main(), or when a library is loaded. \returns true
bool add_launch_setup(void (*setup)());

/// Calls what was added since the last call, on the current GPU; no kernel of the process may be waiting for the proxy.
void set_up_launches();

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
namespace {
/// Without relocatable device code each source file has its own pointers to the locks of atomic operations on the GPU, and
/// Kokkos sets them at the file's first launch by cudaMemcpyToSymbol. Behind a kernel that waits for the proxy this copy
/// holds CUDA's lock until the kernel ends, and the proxy, which needs that lock, never lets it end. So each source file that
/// includes this header has its pointers set beforehand.
[[maybe_unused]] const bool has_added_launch_setup =
    add_launch_setup(&desul::ensure_cuda_lock_arrays_on_device);
}  // namespace
#endif

}  // namespace selvage::detail
