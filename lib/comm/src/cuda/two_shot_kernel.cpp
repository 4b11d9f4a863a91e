#include "../allreduces/part.hpp"
#include "../allreduces/reduction_arithmetic.hpp"
#include "allreduce_kernels.hpp"
#include "allreduce_wait.hpp"
#include "check.hpp"

namespace selvage::detail {
namespace {

/// Elements that one thread loads of each rank at once.
template <class T, int width>
struct alignas(width * sizeof(T)) Pack {
  T element[width];
};

/// By one thread per peer: says to the peer's block of the same number that this one is so far, and waits until that
/// one is. Called by all threads; publishes to the peers what all threads of the block have done before.
/// \return whether all are
__device__ bool meet(const AllreduceProgram& program, Flag* const* flags, std::uint64_t epoch) {
  __syncthreads();
  bool met = true;
  const int peer = static_cast<int>(threadIdx.x);
  if (peer < program.ranks && peer != program.rank) {
    const int row = static_cast<int>(blockIdx.x) * program.ranks;
    release_epoch(flags[peer][row + program.rank], epoch);
    const Flag& own = flags[program.rank][row + peer];
    // Acquires what the peer's block did before.
    met = poll(
        program, peer, epoch, [&] { return has_reached(acquire_epoch(own), epoch); },
        [&] { return acquire_epoch(own); });
  }
  return __syncthreads_and(met) != 0;
}

/// All loads go out before the first is needed; combined in rank order.
template <class T, ReduceOperation operation, int width>
__device__ void reduce_pack(const AllreduceProgram& program, std::int64_t index) {
  using Elements = Pack<T, width>;
  Elements loaded[most_allreduce_ranks];
#pragma unroll
  for (int rank = 0; rank < most_allreduce_ranks; ++rank) {
    if (rank < program.ranks) loaded[rank] = reinterpret_cast<const Elements*>(program.elements[rank])[index];
  }
  Elements result;
#pragma unroll
  for (int k = 0; k < width; ++k) {
    auto combined = to_accumulator(loaded[0].element[k]);
#pragma unroll
    for (int rank = 1; rank < most_allreduce_ranks; ++rank) {
      if (rank < program.ranks)
        combined = combine<operation>(combined, to_accumulator(loaded[rank].element[k]));
    }
    result.element[k] = from_accumulator<T>(conclude<operation>(combined, program.ranks));
  }
#pragma unroll
  for (int rank = 0; rank < most_allreduce_ranks; ++rank) {
    if (rank < program.ranks) reinterpret_cast<Elements*>(program.elements[rank])[index] = result;
  }
}

/// Packs [begin, end) of this rank's part, shared by all blocks.
template <class T, ReduceOperation operation, int width>
__device__ void reduce_packs(const AllreduceProgram& program, std::int64_t begin, std::int64_t end) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = begin + blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < end;
       i += stride)
    reduce_pack<T, operation, width>(program, i);
}

/// Between the two meetings nobody but a part's rank touches that part of anybody's elements; blocks of one number
/// meet, and a launch ends when all have.
template <class T, ReduceOperation operation, int width>
__global__ void __launch_bounds__(512) two_shot_kernel(const __grid_constant__ AllreduceProgram program) {
  const std::uint64_t epoch = program.state->epochs[blockIdx.x] + 1;
  bool met = program.state->failed == 0;
  // Publishes to the peers: kernels before this one have written this rank's elements, and are done with them.
  met = met && meet(program, program.ready, epoch);
  if (met) {
    const Part part = part_of(program.count, program.rank, program.ranks, sizeof(T));
    const std::int64_t end = part.begin + part.count;
    // Parts begin on packs.
    reduce_packs<T, operation, width>(program, part.begin / width, end / width);
    if constexpr (width > 1) reduce_packs<T, operation, 1>(program, end / width * width, end);
    // Publishes to the peers: this block's share of this rank's part.
    met = meet(program, program.done, epoch);
  }
  if (threadIdx.x == 0) program.state->epochs[blockIdx.x] = epoch;
}

[[nodiscard]] bool has_packs(const AllreduceProgram& program) {
  std::uintptr_t bits = 0;
  for (int rank = 0; rank < program.ranks; ++rank)
    bits |= reinterpret_cast<std::uintptr_t>(program.elements[rank]);
  return bits % 16 == 0;
}

/// Calls `visit` with the kernel that the program needs.
template <class Visit>
void with_kernel(const AllreduceProgram& program, const Visit& visit) {
  with_arithmetic(program.type, program.operation, [&]<class T, ReduceOperation operation>() {
    constexpr int width = 16 / static_cast<int>(sizeof(T));
    visit(has_packs(program) ? two_shot_kernel<T, operation, width> : two_shot_kernel<T, operation, 1>);
  });
}

}  // namespace

void load_two_shot(const AllreduceProgram& program) {
  cudaFuncAttributes unused{};
  with_kernel(program, [&](auto kernel) {
    check_cuda(cudaFuncGetAttributes(&unused, kernel), "loading comm::two_shot");
  });
}

void launch_two_shot(const AllreduceProgram& program, cudaStream_t stream) {
  with_kernel(program, [&](auto kernel) { kernel<<<program.blocks, program.threads, 0, stream>>>(program); });
  check_cuda(cudaGetLastError(), "launching comm::two_shot");
}

}  // namespace selvage::detail
