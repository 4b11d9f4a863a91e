#pragma once

#include "allreduce_kernels.hpp"

namespace selvage::detail {

/// Of a kernel that launch_chained() starts: waits until those before it in its stream have ended.
__device__ inline void begin_chained() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// Lets the kernel after it begin to start. Not before this one's waits: it would take part in them, and slow them down.
__device__ inline void end_chained() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Ends a kernel whose flags travel with the elements: stores the epoch from which the next launch counts. After a wait that
/// timed out it stores an epoch that no rank expects. Other ranks then can't mistake what this block still sends for a later
/// operation, and no later wait of this block succeeds. Called by all threads; the kernel's end publishes it.
__device__ inline void end_epoch(const AllreduceProgram& program, std::uint64_t epoch, bool met) {
  constexpr std::uint64_t nobodys = std::uint64_t{1} << 62 | std::uint64_t{1} << 30;
  const bool all_met = __syncthreads_and(met) != 0;
  end_chained();
  if (threadIdx.x == 0) program.state->epochs[blockIdx.x] = all_met ? epoch : epoch + nobodys;
}

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

/// Who polls together: each thread for itself, or a warp whose threads all want the same.
struct AloneVote {
  [[nodiscard]] __device__ static bool all(bool value) { return value; }
  [[nodiscard]] __device__ static bool any(bool value) { return value; }
};
struct WarpVote {
  static constexpr unsigned every_lane = 0xffffffffU;
  [[nodiscard]] __device__ static bool all(bool value) { return __all_sync(every_lane, value) != 0; }
  [[nodiscard]] __device__ static bool any(bool value) { return __any_sync(every_lane, value) != 0; }
};

/// Polls until `is_here`; false when the time is up, or another wait of these kernels has failed.
/// \param report  calls report_late() for what isn't here when the time is up
template <class Vote, class IsHere, class Report>
[[nodiscard]] __device__ bool poll(const AllreduceProgram& program, const IsHere& is_here,
                                   const Report& report) {
  constexpr int polls_per_look = 64;
  std::uint64_t start = 0;
  while (true) {
    for (int i = 0; i < polls_per_look; ++i) {
      if (Vote::all(is_here())) return true;
    }
    const std::uint64_t now = clock_ns();
    if (start == 0) start = now;
    if (Vote::any(load_relaxed(program.state->failed) != 0)) return false;
    if (!Vote::any(now - start > program.timeout_ns)) continue;
    report();
    return false;
  }
}

/// By one thread per peer: waits until a flag that the peer releases to this rank has reached `epoch`. Called by all
/// threads; acquires for all of them.
/// \return whether all have
__device__ inline bool await_flags(const AllreduceProgram& program, Flag* const* flags, std::uint64_t epoch) {
  bool met = true;
  const int peer = static_cast<int>(threadIdx.x);
  if (peer < program.ranks && peer != program.rank) {
    const Flag& own = flags[program.rank][static_cast<int>(blockIdx.x) * program.ranks + peer];
    met = poll<AloneVote>(
        program, [&] { return has_reached(acquire_epoch(own), epoch); },
        [&] { report_late(program, peer, epoch, acquire_epoch(own)); });
  }
  return __syncthreads_and(met) != 0;
}
/// By one thread per peer: says to the peers' blocks of the same number how far this one is. Called by all threads;
/// publishes what all threads of the block have done before.
__device__ inline void release_flags(const AllreduceProgram& program, Flag* const* flags,
                                     std::uint64_t epoch) {
  __syncthreads();
  const int peer = static_cast<int>(threadIdx.x);
  if (peer < program.ranks && peer != program.rank)
    release_epoch(flags[peer][static_cast<int>(blockIdx.x) * program.ranks + program.rank], epoch);
}
/// Both: returns when all are so far.
__device__ inline bool meet(const AllreduceProgram& program, Flag* const* flags, std::uint64_t epoch) {
  release_flags(program, flags, epoch);
  return await_flags(program, flags, epoch);
}

}  // namespace selvage::detail
