#include "allreduce_wait.hpp"
#include "collectives/algorithms/part.hpp"
#include "launch_chained.hpp"
#include "pack_reduction.hpp"

namespace selvage::detail {
namespace {

/// Packs that a thread has on their way at once.
constexpr int copies_at_once = 16;

/// Copies a pack of the source's elements into those of the receivers.
template <class T>
__device__ void copy_pack(const AllreduceProgram& program, std::int64_t index) {
  const Pack pack = load_unit<Pack>(reinterpret_cast<const T*>(program.elements[program.source]), index,
                                    program.count, program.is_aligned);
  for (int rank = 0; rank < program.ranks; ++rank) {
    if (is_receiver(program, rank))
      store_unit(reinterpret_cast<T*>(program.elements[rank]), index, program.count, program.is_aligned,
                 pack);
  }
}

/// The same of `count` packs, at most copies_at_once: `first`, `first + stride` and so on, all aligned and whole; all loads
/// go out before the first is needed.
__device__ void copy_whole_packs(const AllreduceProgram& program, std::int64_t first, std::int64_t stride,
                                 int count) {
  Pack packs[copies_at_once];
  const auto* const from = reinterpret_cast<const Pack*>(program.elements[program.source]) + first;
#pragma unroll
  for (int i = 0; i < copies_at_once; ++i) packs[i] = from[i < count ? i * stride : 0];
#pragma unroll
  for (int rank = 0; rank < most_allreduce_ranks; ++rank) {
    if (!is_receiver(program, rank)) continue;
    auto* const to = reinterpret_cast<Pack*>(program.elements[rank]) + first;
#pragma unroll
    for (int i = 0; i < copies_at_once; ++i) {
      if (i < count) to[i * stride] = packs[i];
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
    const std::int64_t thread = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
    std::int64_t i = for_whole_packs<copies_at_once>(
        run.begin + thread, whole_end<T>(program, run), threads,
        [&](std::int64_t first, int count) { copy_whole_packs(program, first, threads, count); });
    for (; i < run.end; i += threads) copy_pack<T>(program, i);
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
    case 1:
      return &gather<std::uint8_t>;
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
