#pragma once

#include <cuda/atomic>

#include <cstdint>

namespace selvage::detail {

/// System-scope flags for kernels; ../signal.hpp is the same for hosts. Kokkos' atomics stop at the device,
/// so this is the one place where kernels order memory for other GPUs.

using SystemFlag = cuda::atomic_ref<std::uint64_t, cuda::thread_scope_system>;

/// Publishes to the flag's reader what this thread did before, and what it has seen of other threads' stores
/// through a block barrier or a device-scope acquire.
__device__ inline void release_epoch_to_system(std::uint64_t& flag, std::uint64_t epoch) {
  SystemFlag(flag).store(epoch, cuda::memory_order_release);
}

[[nodiscard]] __device__ inline std::uint64_t acquire_epoch_from_system(std::uint64_t& flag) {
  return SystemFlag(flag).load(cuda::memory_order_acquire);
}

[[nodiscard]] __device__ inline bool epoch_reached(std::uint64_t seen, std::uint64_t wanted) {
  return static_cast<std::int64_t>(seen - wanted) >= 0;
}

/// Nanoseconds of a clock that all multiprocessors share.
[[nodiscard]] __device__ inline std::uint64_t global_timer_ns() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// Counts a block in among `all`; true for the last one, which then sees what all others did before. Ready
/// for the next launch when it returns true.
[[nodiscard]] __device__ inline bool is_last_block(std::uint32_t& counter, std::uint32_t all) {
  const cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device> arrived(counter);
  if (arrived.fetch_add(1, cuda::memory_order_acq_rel) + 1 != all) return false;
  arrived.store(0, cuda::memory_order_relaxed);
  return true;
}

}  // namespace selvage::detail
