#pragma once

#include <Kokkos_Macros.hpp>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#ifdef __CUDACC__
#include <cuda/atomic>
#endif

namespace selvage::detail {

/// The one place with memory orders, for hosts and for kernels. Kokkos' atomics are relaxed and stop at the
/// device; these order memory for other GPUs, other processes and the host.

/// A 64-bit epoch that one side writes and one side reads; it only grows. On a line of its own, so that
/// neither side's polling disturbs a neighbouring flag.
struct alignas(128) Flag {
  std::uint64_t epoch = 0;
};

/// Publishes to the word's reader, at system scope, what this thread did before, and what it has seen of
/// other threads' stores through a team barrier or an acquire.
KOKKOS_INLINE_FUNCTION void release_word(std::uint64_t& word, std::uint64_t value) {
  KOKKOS_IF_ON_DEVICE((cuda::atomic_ref<std::uint64_t, cuda::thread_scope_system>(word).store(
      value, cuda::memory_order_release);))
  KOKKOS_IF_ON_HOST((std::atomic_ref<std::uint64_t>(word).store(value, std::memory_order_release);))
}

/// When it returns a value, all that its writer did before release_word is visible here.
[[nodiscard]] KOKKOS_INLINE_FUNCTION std::uint64_t acquire_word(const std::uint64_t& word) {
  auto& shared = const_cast<std::uint64_t&>(word);
  KOKKOS_IF_ON_DEVICE((return cuda::atomic_ref<std::uint64_t, cuda::thread_scope_system>(shared).load(
      cuda::memory_order_acquire);))
  KOKKOS_IF_ON_HOST((return std::atomic_ref<std::uint64_t>(shared).load(std::memory_order_acquire);))
}

KOKKOS_INLINE_FUNCTION void release_epoch(Flag& flag, std::uint64_t epoch) {
  release_word(flag.epoch, epoch);
}
[[nodiscard]] KOKKOS_INLINE_FUNCTION std::uint64_t acquire_epoch(const Flag& flag) {
  return acquire_word(flag.epoch);
}

/// Instead of release_epoch() for several flags: one publish() before, then publish_epoch() for each. A device's release
/// waits until this thread's stores are performed, and waiting once does for all; a host's costs nothing.
KOKKOS_INLINE_FUNCTION void publish() {
  KOKKOS_IF_ON_DEVICE((cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_system);))
}
KOKKOS_INLINE_FUNCTION void publish_epoch(Flag& flag, std::uint64_t epoch) {
  KOKKOS_IF_ON_DEVICE((cuda::atomic_ref<std::uint64_t, cuda::thread_scope_system>(flag.epoch)
                           .store(epoch, cuda::memory_order_relaxed);))
  // Not by a fence, which the thread sanitizer doesn't know.
  KOKKOS_IF_ON_HOST((release_epoch(flag, epoch);))
}

/// Right also after 2^64 epochs.
[[nodiscard]] KOKKOS_INLINE_FUNCTION bool has_reached(std::uint64_t seen, std::uint64_t wanted) {
  return static_cast<std::int64_t>(seen - wanted) >= 0;
}

/// Reads and writes a word of this device, or of this process, that other threads write at the same time. Orders nothing. On a
/// GPU Kokkos::atomic_load() changes the word by nothing instead, and threads that ask at once stand in line.
template <class Word>
[[nodiscard]] KOKKOS_INLINE_FUNCTION Word load_relaxed(const Word& word) {
  auto& shared = const_cast<Word&>(word);
  KOKKOS_IF_ON_DEVICE(
      (return cuda::atomic_ref<Word, cuda::thread_scope_device>(shared).load(cuda::memory_order_relaxed);))
  KOKKOS_IF_ON_HOST((return std::atomic_ref<Word>(shared).load(std::memory_order_relaxed);))
}
template <class Word>
KOKKOS_INLINE_FUNCTION void store_relaxed(Word& word, Word value) {
  KOKKOS_IF_ON_DEVICE(
      (cuda::atomic_ref<Word, cuda::thread_scope_device>(word).store(value, cuda::memory_order_relaxed);))
  KOKKOS_IF_ON_HOST((std::atomic_ref<Word>(word).store(value, std::memory_order_relaxed);))
}

/// Adds to a counter of this device, or of this process; returns the sum. Whoever reaches a sum has seen what
/// all others did before they added.
KOKKOS_INLINE_FUNCTION std::uint64_t count_in(std::uint64_t& counter, std::uint64_t amount) {
  KOKKOS_IF_ON_DEVICE((return cuda::atomic_ref<std::uint64_t, cuda::thread_scope_device>(counter).fetch_add(
                                  amount, cuda::memory_order_acq_rel) +
                                  amount;))
  KOKKOS_IF_ON_HOST(
      (return std::atomic_ref<std::uint64_t>(counter).fetch_add(amount, std::memory_order_acq_rel) + amount;))
}

/// Counts one in among `all`; true for the last, which has then seen what the others did before. The counter
/// is ready for the next round when it returns true.
[[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_last_of(std::uint64_t& counter, std::uint64_t all) {
  if (count_in(counter, 1) != all) return false;
  KOKKOS_IF_ON_DEVICE((cuda::atomic_ref<std::uint64_t, cuda::thread_scope_device>(counter).store(
      0, cuda::memory_order_relaxed);))
  KOKKOS_IF_ON_HOST((std::atomic_ref<std::uint64_t>(counter).store(0, std::memory_order_relaxed);))
  return true;
}

/// What a polling thread does between polls where waiting ranks share cores; nothing on a device.
KOKKOS_INLINE_FUNCTION void yield_core() {
  KOKKOS_IF_ON_HOST((sched_yield();))
}

/// Nanoseconds of a clock that all multiprocessors of a device, or all threads of a host, share.
[[nodiscard]] KOKKOS_INLINE_FUNCTION std::uint64_t clock_ns() {
  KOKKOS_IF_ON_DEVICE((std::uint64_t now; asm volatile("mov.u64 %0, %%globaltimer;"
                                                       : "=l"(now));
                       return now;))
  KOKKOS_IF_ON_HOST((return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                                       std::chrono::nanoseconds(1));))
}

}  // namespace selvage::detail
