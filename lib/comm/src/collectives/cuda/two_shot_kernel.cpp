#include "allreduce_wait.hpp"
#include "collectives/algorithms/part.hpp"
#include "launch_chained.hpp"
#include "pack_reduction.hpp"

namespace selvage::detail {
namespace {

/// Between the two meetings nobody but a part's rank touches that part of anybody's elements; blocks of one number
/// meet, and a launch ends when all have.
template <class T, ReduceOperation operation, int most_ranks>
__global__ void __launch_bounds__(most_allreduce_threads)
    two_shot(const __grid_constant__ AllreduceProgram program) {
  begin_chained();
  const std::uint64_t epoch = program.state->epochs[blockIdx.x] + 1;
  // Publishes to the peers: kernels before this one have written this rank's elements, and are done with them.
  if (program.state->failed == 0 && meet(program, program.arrived, epoch)) {
    const Part part = part_of(program.count, program.rank, program.ranks);
    const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    reduce_run<T, operation, most_ranks>(program, packs_of<T>(part.begin, part.count),
                                         blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x,
                                         threads);
    // Publishes to the peers: this block's share of this rank's part.
    static_cast<void>(meet(program, program.done, epoch));
  }
  end_chained();
  if (threadIdx.x == 0) program.state->epochs[blockIdx.x] = epoch;
}

struct TwoShot {
  static constexpr std::string_view name = "comm::two_shot";
  template <class T, ReduceOperation operation, int most_ranks>
  [[nodiscard]] static auto kernel() {
    return &two_shot<T, operation, most_ranks>;
  }
};

}  // namespace

AllreduceKernel two_shot_kernel() {
  return kernel_of<TwoShot>();
}

}  // namespace selvage::detail
