#include "../allreduces/part.hpp"
#include "allreduce_wait.hpp"
#include "launch_chained.hpp"
#include "pack_reduction.hpp"

namespace selvage::detail {
namespace {

/// This rank's part of the elements, as packs.
template <class T>
[[nodiscard]] __device__ PackRun own_packs(const AllreduceProgram& program) {
  const Part part = part_of(program.count, program.rank, program.ranks);
  return packs_of<T>(part.begin, part.count);
}
[[nodiscard]] __device__ std::int64_t thread_of_grid() {
  return blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
}
[[nodiscard]] __device__ std::int64_t threads_of_grid() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

/// Of all ranks' elements, in rank order.
template <class T, ReduceOperation operation, int most_ranks>
[[nodiscard]] __device__ PartialPack<T> combine_pack(const AllreduceProgram& program, std::int64_t index) {
  Pack packs[most_ranks];
#pragma unroll
  for (int rank = 0; rank < most_ranks; ++rank) {
    if (rank < program.ranks)
      packs[rank] = load_unit<Pack>(reinterpret_cast<const T*>(program.elements[rank]), index, program.count,
                                    program.is_aligned);
  }
  PartialPack<T> partial;
#pragma unroll
  for (int rank = 0; rank < most_ranks; ++rank) {
    if (rank >= program.ranks) continue;
    const T* const elements = reinterpret_cast<const T*>(&packs[rank]);
#pragma unroll
    for (int k = 0; k < PartialPack<T>::width; ++k) {
      const auto value = to_accumulator(elements[k]);
      partial.value[k] = rank == 0 ? value : combine<operation>(partial.value[k], value);
    }
  }
  return partial;
}

/// Leaves its epoch to give_part, which ends what this begins.
template <class T, ReduceOperation operation, int most_ranks>
__global__ void __launch_bounds__(most_allreduce_threads)
    combine_part(const __grid_constant__ AllreduceProgram program) {
  begin_chained();
  const std::uint64_t epoch = program.state->epochs[blockIdx.x] + 1;
  // Publishes to the peers: kernels before this one have written this rank's elements, and are done with them.
  if (program.state->failed == 0 && meet(program, program.arrived, epoch)) {
    const PackRun run = own_packs<T>(program);
    auto* const partial = reinterpret_cast<PartialPack<T>*>(program.partial);
#pragma unroll 4
    for (std::int64_t i = run.begin + thread_of_grid(); i < run.end; i += threads_of_grid())
      partial[i - run.begin] = combine_pack<T, operation, most_ranks>(program, i);
  }
  end_chained();
}

/// Nobody but a part's rank has read that part of anybody's elements, and it has combined them.
template <class T, ReduceOperation operation>
__global__ void __launch_bounds__(most_allreduce_threads)
    give_part(const __grid_constant__ AllreduceProgram program) {
  begin_chained();
  const std::uint64_t epoch = program.state->epochs[blockIdx.x] + 1;
  if (program.state->failed == 0) {
    const PackRun run = own_packs<T>(program);
    const auto* const partial = reinterpret_cast<const PartialPack<T>*>(program.partial);
#pragma unroll 4
    for (std::int64_t i = run.begin + thread_of_grid(); i < run.end; i += threads_of_grid()) {
      const Pack result =
          conclude_pack<T, operation>(partial[i - run.begin], program.operation, program.all_ranks);
      for (int rank = 0; rank < program.ranks; ++rank)
        store_unit(reinterpret_cast<T*>(program.elements[rank]), i, program.count, program.is_aligned,
                   result);
    }
    // Publishes to the peers: this block's share of this rank's part.
    static_cast<void>(meet(program, program.done, epoch));
  }
  end_chained();
  if (threadIdx.x == 0) program.state->epochs[blockIdx.x] = epoch;
}

struct CombinePart {
  static constexpr std::string_view name = "comm::combine_part";
  template <class T, ReduceOperation operation, int most_ranks>
  [[nodiscard]] static auto kernel() {
    return &combine_part<T, operation, most_ranks>;
  }
};
struct GivePart {
  static constexpr std::string_view name = "comm::give_part";
  template <class T, ReduceOperation operation, int /*most_ranks*/>
  [[nodiscard]] static auto kernel() {
    return &give_part<T, operation>;
  }
};

}  // namespace

AllreduceKernel combine_part_kernel() {
  return kernel_of<CombinePart>();
}
AllreduceKernel give_part_kernel() {
  return kernel_of<GivePart>();
}

}  // namespace selvage::detail
