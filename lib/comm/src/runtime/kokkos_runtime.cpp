#include "kokkos_runtime.hpp"

#include <Kokkos_Core.hpp>

namespace selvage::detail {

ProfilingRegion::ProfilingRegion(const char* name) {
  Kokkos::Profiling::pushRegion(name);
}
ProfilingRegion::~ProfilingRegion() {
  Kokkos::Profiling::popRegion();
}

void fence_all(const char* name) {
  if (Kokkos::is_initialized() && !Kokkos::is_finalized()) Kokkos::fence(name);
}

}  // namespace selvage::detail
