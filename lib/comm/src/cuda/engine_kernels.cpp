#include "allreduce_wait.hpp"
#include "launch_chained.hpp"
#include "pack_reduction.hpp"

#include <cstdint>

namespace selvage::detail {
namespace {

/// Between streams' flags: what it combines is there, and nobody else touches what it stores into.
template <class T, ReduceOperation operation, int most_ranks>
__global__ void __launch_bounds__(most_allreduce_threads)
    combine_all(const __grid_constant__ AllreduceProgram program) {
  begin_chained();
  if (program.state->failed == 0) {
    reduce_run<T, operation, most_ranks>(program, packs_of<T>(0, program.count),
                                         blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x,
                                         static_cast<std::int64_t>(gridDim.x) * blockDim.x);
  }
  end_chained();
}

struct CombineAll {
  static constexpr std::string_view name = "comm::combine_all";
  template <class T, ReduceOperation operation, int most_ranks>
  [[nodiscard]] static auto kernel() {
    return &combine_all<T, operation, most_ranks>;
  }
};

/// A thread for each flag. Streams wait for them without a limit: when the time is up this sets those that are missing.
/// The first of them, in the order of the rounds, tells the rank to be named.
__global__ void watch_flags(const __grid_constant__ AllreduceProgram program,
                            const __grid_constant__ FlagsToWatch watched) {
  __shared__ int first_missing;
  const int own = static_cast<int>(threadIdx.x);
  if (own == 0) first_missing = watched.count;
  __syncthreads();
  volatile std::uint32_t* const flag = watched.flags + own;
  const bool met = poll<AloneVote>(
      program, [&] { return *flag != 0; }, [&] { atomicMin(&first_missing, own); });
  if (__syncthreads_and(met) != 0) return;
  if (own == 0 && first_missing < watched.count) report_late(program, watched.writers[first_missing], 1, 0);
  __syncthreads();
  // Publishes nothing: kernels that follow see that this has failed.
  *flag = 1;
}

constexpr std::string_view watch_name = "comm::watch_flags";

}  // namespace

AllreduceKernel combine_all_kernel() {
  return kernel_of<CombineAll>();
}

void load_watch_flags() {
  cudaFuncAttributes unused{};
  check_cuda(cudaFuncGetAttributes(&unused, &watch_flags), watch_name);
}
void launch_watch_flags(const AllreduceProgram& program, const FlagsToWatch& watched, cudaStream_t stream) {
  watch_flags<<<1, watched.count, 0, stream>>>(program, watched);
  check_cuda(cudaGetLastError(), watch_name);
}

}  // namespace selvage::detail
