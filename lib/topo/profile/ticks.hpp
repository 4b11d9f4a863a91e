#pragma once

#include <cstdint>
#include <ctime>

namespace selvage::profile {

inline std::uint64_t clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

// Two readings per call of MPI are most of what the recorder costs, so the cheapest counter there is.
#if defined(__x86_64__)
inline std::uint64_t ticks() {
  return __builtin_ia32_rdtsc();
}
#else
inline std::uint64_t ticks() {
  return clock_ns();
}
#endif

/// Compares the two clocks for a millisecond, which is good to about 1e-4.
inline double measure_seconds_per_tick() {
  const std::uint64_t start_ns = clock_ns();
  const std::uint64_t start = ticks();
  while (clock_ns() - start_ns < 1'000'000u) {
  }
  const std::uint64_t end_ns = clock_ns();
  return 1e-9 * static_cast<double>(end_ns - start_ns) / static_cast<double>(ticks() - start);
}

}  // namespace selvage::profile
