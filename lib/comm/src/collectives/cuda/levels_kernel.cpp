#include "allreduce_wait.hpp"
#include "collectives/algorithms/part.hpp"
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

/// Of all ranks' packs, in rank order, behind what `to` holds if the program continues.
template <class T, ReduceOperation operation, int most_ranks>
__device__ void combine_partial(const AllreduceProgram& program, const Pack (&packs)[most_ranks],
                                PartialPack<T>& to) {
  PartialPack<T> partial;
  if (program.continues) partial = to;
#pragma unroll
  for (int rank = 0; rank < most_ranks; ++rank) {
    if (rank >= program.ranks) continue;
    const T* const elements = reinterpret_cast<const T*>(&packs[rank]);
#pragma unroll
    for (int k = 0; k < PartialPack<T>::width; ++k) {
      const auto value = to_accumulator(elements[k]);
      partial.value[k] =
          rank == 0 && !program.continues ? value : combine<operation>(partial.value[k], value);
    }
  }
  to = partial;
}

/// Combines this rank's part of all ranks' elements.
/// \param to  of the part's packs
template <class T, ReduceOperation operation, int most_ranks>
__device__ void combine_run(const AllreduceProgram& program, const PackRun& run, PartialPack<T>* to) {
  constexpr int at_once = packs_at_once<most_ranks>;
  const std::int64_t threads = threads_of_grid();
  const auto combine_whole = [&](std::int64_t first, int count) {
    Pack packs[at_once][most_ranks];
    load_whole_packs<most_ranks>(program, first, threads, count, packs);
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      if (i < count) combine_partial<T, operation>(program, packs[i], to[first - run.begin + i * threads]);
    }
  };
  std::int64_t i = for_whole_packs<at_once>(run.begin + thread_of_grid(), whole_end<T>(program, run), threads,
                                            combine_whole);
  for (; i < run.end; i += threads) {
    Pack packs[most_ranks];
    load_pack<T>(program, i, packs);
    combine_partial<T, operation>(program, packs, to[i - run.begin]);
  }
}

/// Ends the combination of this rank's part, and stores it into all ranks' elements.
/// \param from  of the part's packs
template <class T, ReduceOperation operation>
__device__ void give_run(const AllreduceProgram& program, const PackRun& run, const PartialPack<T>* from) {
  constexpr int at_once = 4;
  const std::int64_t threads = threads_of_grid();
  const auto conclude = [&](const PartialPack<T>& partial) {
    return conclude_pack<T, operation>(partial, program.operation, program.all_ranks);
  };
  const auto give_whole = [&](std::int64_t first, int count) {
    PartialPack<T> partials[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i) partials[i] = from[first - run.begin + (i < count ? i * threads : 0)];
    Pack results[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i) results[i] = conclude(partials[i]);
    for (int rank = 0; rank < program.ranks; ++rank) {
      auto* const to = reinterpret_cast<Pack*>(program.elements[rank]) + first;
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        if (i < count) to[i * threads] = results[i];
      }
    }
  };
  std::int64_t i =
      for_whole_packs<at_once>(run.begin + thread_of_grid(), whole_end<T>(program, run), threads, give_whole);
  for (; i < run.end; i += threads) {
    const Pack result = conclude(from[i - run.begin]);
    for (int rank = 0; rank < program.ranks; ++rank)
      store_unit(reinterpret_cast<T*>(program.elements[rank]), i, program.count, program.is_aligned, result);
  }
}

/// Leaves its epoch to give_part, which ends what this begins.
template <class T, ReduceOperation operation, int most_ranks>
__global__ void __launch_bounds__(most_allreduce_threads)
    combine_part(const __grid_constant__ AllreduceProgram program) {
  begin_chained();
  const std::uint64_t epoch = program.state->epochs[blockIdx.x] + 1;
  // Publishes to the peers: kernels before this one have written this rank's elements, and are done with them.
  if (program.state->failed == 0 && (!program.meets || meet(program, program.arrived, epoch))) {
    combine_run<T, operation, most_ranks>(program, own_packs<T>(program),
                                          reinterpret_cast<PartialPack<T>*>(program.partial));
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
    give_run<T, operation>(program, own_packs<T>(program),
                           reinterpret_cast<const PartialPack<T>*>(program.partial));
    // Publishes to the peers: this block's share of this rank's part.
    if (program.meets) static_cast<void>(meet(program, program.done, epoch));
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
