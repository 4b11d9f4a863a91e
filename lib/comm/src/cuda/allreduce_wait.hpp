#pragma once

#include "allreduce_kernels.hpp"

namespace selvage::detail {

/// The first failure of an Allreduce's kernels goes to the host; later ones follow from it.
__device__ inline void report_late(const AllreduceProgram& program, int rank, std::uint64_t wanted,
                                   std::uint64_t seen) {
  if (atomicExch(&program.state->failed, 1) != 0) return;
  program.fault->rank = static_cast<std::uint64_t>(rank);
  program.fault->wanted = wanted;
  program.fault->seen = seen;
  // Publishes to the host: the description above.
  release_word(program.fault->kind, Fault::arrival_late);
}

/// Polls until `is_here`; false when the time is up, or another wait of these kernels has failed.
/// \param seen  what to report then
template <class IsHere, class Seen>
[[nodiscard]] __device__ bool poll(const AllreduceProgram& program, int rank, std::uint64_t wanted,
                                   const IsHere& is_here, const Seen& seen) {
  constexpr int polls_per_look = 64;
  std::uint64_t start = 0;
  while (true) {
    for (int i = 0; i < polls_per_look; ++i) {
      if (is_here()) return true;
    }
    const std::uint64_t now = clock_ns();
    if (start == 0) start = now;
    if (*const_cast<volatile std::uint32_t*>(&program.state->failed) != 0) return false;
    if (now - start <= program.timeout_ns) continue;
    report_late(program, rank, wanted, seen());
    return false;
  }
}

}  // namespace selvage::detail
