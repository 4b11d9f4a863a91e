#include "../allreduces/part.hpp"
#include "allreduce_wait.hpp"
#include "launch_chained.hpp"
#include "pack_reduction.hpp"

namespace selvage::detail {
namespace {

constexpr int copies_at_once = 8;

/// Copies packs of the source's elements into those of the receivers.
template <class T>
__device__ void copy_packs(const AllreduceProgram& program, std::int64_t first, std::int64_t end,
                           std::int64_t stride) {
  constexpr int at_once = copies_at_once;
  Pack packs[at_once];
  const T* const source = reinterpret_cast<const T*>(program.elements[program.source]);
#pragma unroll
  for (int i = 0; i < at_once; ++i) {
    const std::int64_t index = first + i * stride;
    if (index < end) packs[i] = load_unit<Pack>(source, index, program.count, program.is_aligned);
  }
#pragma unroll
  for (int i = 0; i < at_once; ++i) {
    const std::int64_t index = first + i * stride;
    if (index >= end) return;
#pragma unroll
    for (int rank = 0; rank < most_allreduce_ranks; ++rank) {
      if (is_receiver(program, rank))
        store_unit(reinterpret_cast<T*>(program.elements[rank]), index, program.count, program.is_aligned,
                   packs[i]);
    }
  }
}

/// As two_shot: between the two meetings nobody but a part's rank writes that part of anybody's elements.
/// \tparam T  of an element's size
template <class T>
__global__ void __launch_bounds__(most_allreduce_threads)
    gather(const __grid_constant__ AllreduceProgram program) {
  begin_chained();
  const std::uint64_t epoch = program.state->epochs[blockIdx.x] + 1;
  // Publishes to the peers: kernels before this one have written this rank's elements, and are done with them.
  if (program.state->failed == 0 && meet(program, program.arrived, epoch)) {
    const Part part = part_of(program.count, program.rank, program.ranks);
    const PackRun run = packs_of<T>(part.begin, part.count);
    const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = run.begin + blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
         i < run.end; i += copies_at_once * threads)
      copy_packs<T>(program, i, run.end, threads);
    // Publishes to the peers: this block's share of this rank's part.
    static_cast<void>(meet(program, program.done, epoch));
  }
  end_chained();
  if (threadIdx.x == 0) program.state->epochs[blockIdx.x] = epoch;
}

/// The kernel for elements of a size.
using GatherKernel = void (*)(AllreduceProgram);
GatherKernel kernel_for(ElementType type) {
  switch (element_bytes(type)) {
    case 2:
      return &gather<std::uint16_t>;
    case 4:
      return &gather<std::uint32_t>;
    default:
      return &gather<std::uint64_t>;
  }
}

constexpr std::string_view name = "comm::gather";

void load(const AllreduceProgram& program) {
  cudaFuncAttributes unused{};
  check_cuda(cudaFuncGetAttributes(&unused, kernel_for(program.type)), name);
}
void launch(const AllreduceProgram& program, cudaStream_t stream) {
  launch_chained(kernel_for(program.type), program, stream, name);
}

}  // namespace

AllreduceKernel gather_kernel() {
  return {&load, &launch};
}

}  // namespace selvage::detail
