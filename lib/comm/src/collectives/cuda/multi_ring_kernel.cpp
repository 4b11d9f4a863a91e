#include "allreduce_wait.hpp"
#include "launch_chained.hpp"
#include "pack_reduction.hpp"

namespace selvage::detail {
namespace {

/// One block's ring: where its elements lie, and its neighbours. Odd blocks go round the other way.
struct Ring {
  int next;
  int previous;
  int place;           ///< of this rank, counted in the ring's direction
  std::int64_t begin;  ///< packs of this block
  std::int64_t end;
  std::int64_t segment_packs;  ///< of a chunk, which has a segment per rank
};

template <class T>
__device__ Ring ring_of_block(const AllreduceProgram& program) {
  constexpr std::int64_t width = sizeof(Pack) / sizeof(T);
  const int ranks = program.ranks;
  const int step = blockIdx.x % 2 == 0 ? 1 : ranks - 1;
  const std::int64_t packs = (program.count + width - 1) / width;
  Ring ring;
  ring.next = (program.rank + step) % ranks;
  ring.previous = (program.rank + ranks - step) % ranks;
  ring.place = step == 1 ? program.rank : (ranks - program.rank) % ranks;
  ring.begin = packs * blockIdx.x / gridDim.x;
  ring.end = packs * (blockIdx.x + 1) / gridDim.x;
  const std::int64_t even = (ring.end - ring.begin + ranks - 1) / ranks;
  const std::int64_t most = ring_segment_packs;
  ring.segment_packs = even < most ? even : most;
  return ring;
}

/// Where a step's partial results arrive at a rank.
template <class T>
__device__ PartialPack<T>* slot_of(const AllreduceProgram& program, int rank, int step) {
  return reinterpret_cast<PartialPack<T>*>(program.scratch[rank] +
                                           (static_cast<std::int64_t>(blockIdx.x) * program.ranks + step) *
                                               ring_slot_bytes);
}

/// Flags count a ring's arrivals from the rank before over the life of the Allreduce.
struct Arrivals {
  std::uint64_t sent;
  std::uint64_t seen;
};
__device__ void announce(const AllreduceProgram& program, const Ring& ring, Arrivals& arrivals) {
  __syncthreads();
  ++arrivals.sent;
  // Publishes to the next rank: a segment, in its slot or its elements.
  if (threadIdx.x == 0)
    release_epoch(program.arrived[ring.next][static_cast<int>(blockIdx.x) * program.ranks + program.rank],
                  arrivals.sent);
}
[[nodiscard]] __device__ bool await(const AllreduceProgram& program, const Ring& ring, Arrivals& arrivals) {
  ++arrivals.seen;
  bool met = true;
  if (threadIdx.x == 0) {
    const Flag& own =
        program.arrived[program.rank][static_cast<int>(blockIdx.x) * program.ranks + ring.previous];
    met = poll<AloneVote>(
        program, [&] { return has_reached(acquire_epoch(own), arrivals.seen); },
        [&] { report_late(program, ring.previous, arrivals.seen, acquire_epoch(own)); });
  }
  return __syncthreads_and(met) != 0;
}

/// Calls `move` with each of this thread's packs of a segment: its number in the segment and among all elements.
template <class Move>
__device__ void for_each_pack(const Ring& ring, std::int64_t chunk, int segment, const Move& move) {
  const std::int64_t begin = chunk + segment * ring.segment_packs;
  const std::int64_t left = ring.end - begin;
  const std::int64_t count = left < ring.segment_packs ? left : ring.segment_packs;
#pragma unroll 4
  for (std::int64_t i = threadIdx.x; i < count; i += most_allreduce_threads) move(i, begin + i);
}

/// Adds this rank's elements of a segment to what has arrived, and passes that on.
template <class T, ReduceOperation operation>
__device__ void pass_partial(const AllreduceProgram& program, const Ring& ring, std::int64_t chunk,
                             int step) {
  const int ranks = program.ranks;
  const int segment = (ring.place - step + ranks) % ranks;
  const auto* const own = reinterpret_cast<const T*>(program.elements[program.rank]);
  const bool is_last = step == ranks - 1;
  for_each_pack(ring, chunk, segment, [&](std::int64_t in_segment, std::int64_t index) {
    const Pack pack = load_unit<Pack>(own, index, program.count, program.is_aligned);
    const T* const elements = reinterpret_cast<const T*>(&pack);
    PartialPack<T> partial;
    if (step > 0) partial = slot_of<T>(program, program.rank, step - 1)[in_segment];
#pragma unroll
    for (int k = 0; k < PartialPack<T>::width; ++k) {
      const auto value = to_accumulator(elements[k]);
      partial.value[k] = step == 0 ? value : combine<operation>(partial.value[k], value);
    }
    if (!is_last) {
      slot_of<T>(program, ring.next, step)[in_segment] = partial;
      return;
    }
    const Pack result = conclude_pack<T, operation>(partial, program.operation, ranks);
    for (const int rank : {program.rank, ring.next})
      store_unit(reinterpret_cast<T*>(program.elements[rank]), index, program.count, program.is_aligned,
                 result);
  });
}

/// Passes a result on that has arrived in this rank's elements.
template <class T>
__device__ void pass_result(const AllreduceProgram& program, const Ring& ring, std::int64_t chunk, int step) {
  const int segment = (ring.place + 2 * program.ranks - step) % program.ranks;
  for_each_pack(ring, chunk, segment, [&](std::int64_t, std::int64_t index) {
    const Pack pack = load_unit<Pack>(reinterpret_cast<const T*>(program.elements[program.rank]), index,
                                      program.count, program.is_aligned);
    store_unit(reinterpret_cast<T*>(program.elements[ring.next]), index, program.count, program.is_aligned,
               pack);
  });
}

/// Up to ranks - 1 partial results come round, then as many results. No flag says that a slot is free: who has all
/// results of a chunk has those that the next rank completed, for which that rank has read all its slots. Nor that
/// elements may be overwritten: a result is made of all ranks' elements, so that these have been read.
template <class T, ReduceOperation operation>
__global__ void __launch_bounds__(most_allreduce_threads)
    multi_ring(const __grid_constant__ AllreduceProgram program) {
  begin_chained();
  const Ring ring = ring_of_block<T>(program);
  const std::uint64_t before = program.state->epochs[blockIdx.x];
  Arrivals arrivals{before, before};
  const int ranks = program.ranks;
  bool met = program.state->failed == 0;
  for (std::int64_t chunk = ring.begin; chunk < ring.end && met; chunk += ranks * ring.segment_packs) {
    for (int step = 0; step < 2 * ranks - 2; ++step) {
      met = step == 0 || await(program, ring, arrivals);
      if (!met) break;
      if (step < ranks) {
        pass_partial<T, operation>(program, ring, chunk, step);
      } else {
        pass_result<T>(program, ring, chunk, step);
      }
      announce(program, ring, arrivals);
    }
    met = met && await(program, ring, arrivals);
  }
  end_chained();
  if (threadIdx.x == 0) program.state->epochs[blockIdx.x] = arrivals.sent;
}

struct MultiRing {
  static constexpr std::string_view name = "comm::multi_ring";
  template <class T, ReduceOperation operation, int /*most_ranks*/>
  [[nodiscard]] static auto kernel() {
    return &multi_ring<T, operation>;
  }
};

}  // namespace

AllreduceKernel multi_ring_kernel() {
  return kernel_of<MultiRing>();
}

}  // namespace selvage::detail
