#pragma once

namespace selvage::detail {

/// What code below the seam asks of Kokkos as a whole. Only the implementation includes Kokkos.

/// A region of Kokkos' profiling tools, as long as it lives.
class ProfilingRegion {
 public:
  explicit ProfilingRegion(const char* name);
  ProfilingRegion(const ProfilingRegion&) = delete;
  ProfilingRegion& operator=(const ProfilingRegion&) = delete;
  ~ProfilingRegion();
};

/// Waits for all that was enqueued on any instance. Nothing where Kokkos isn't initialized, or was finalized.
void fence_all(const char* name);

}  // namespace selvage::detail
