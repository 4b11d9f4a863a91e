#include "allreduce_wait.hpp"
#include "allreduce_words.hpp"
#include "flagged_lines.hpp"
#include "launch_chained.hpp"

namespace selvage::detail {
namespace {

/// A block's share of every rank's part: the same packs of each, counted from the part's begin.
struct Share {
  std::int64_t packs;       ///< of all elements
  std::int64_t part_packs;  ///< of a rank's part; the last ranks' may end before, or lie beyond the elements
  std::int64_t begin;
  std::int64_t end;
  std::int64_t chunk_packs;
  std::int64_t chunks;  ///< the same for all blocks of all ranks
};

__device__ std::int64_t whole_lines(std::int64_t packs) {
  return (packs + packs_per_cache_line - 1) / packs_per_cache_line * packs_per_cache_line;
}

/// \tparam at_once  packs of a thread in a chunk, which is what a block stores for each rank at a time
template <class T, int at_once>
__device__ Share share_of_block(const AllreduceProgram& program) {
  constexpr std::int64_t width = sizeof(Pack) / sizeof(T);
  Share share;
  share.packs = (program.count + width - 1) / width;
  share.part_packs = whole_lines((share.packs + program.ranks - 1) / program.ranks);
  const std::int64_t each = whole_lines((share.part_packs + gridDim.x - 1) / gridDim.x);
  share.begin = blockIdx.x * each;
  share.end = share.begin + each < share.part_packs ? share.begin + each : share.part_packs;
  share.chunk_packs = std::int64_t{at_once} * most_allreduce_threads;
  share.chunks = (each + share.chunk_packs - 1) / share.chunk_packs;
  return share;
}

/// Where a rank's chunk lies in its owner's scratch. Chunks are counted over the life of the Allreduce.
template <int at_once>
__device__ Pack* slot_at(const AllreduceProgram& program, int owner, int writer, std::uint64_t chunk) {
  const std::int64_t row =
      (static_cast<std::int64_t>(blockIdx.x) * push_slots + static_cast<std::int64_t>(chunk % push_slots)) *
          program.ranks +
      writer;
  return reinterpret_cast<Pack*>(program.scratch[owner] + row * push_chunk_bytes(at_once));
}

/// What a thread has of a chunk of a rank's part: packs at `first`, and every most_allreduce_threads packs after it.
struct ChunkShare {
  std::int64_t first;  ///< among all elements
  int left;            ///< packs of the chunk from this thread's first on; less than 1: none
  bool is_whole;       ///< all packs of all threads are there, and can be moved as such
};
template <class T>
__device__ ChunkShare chunk_share(const AllreduceProgram& program, const Share& share, std::int64_t chunk,
                                  int rank) {
  constexpr std::int64_t width = sizeof(Pack) / sizeof(T);
  const std::int64_t in_part = share.begin + chunk * share.chunk_packs;
  const std::int64_t begin = rank * share.part_packs + in_part;
  const std::int64_t in_share = share.end - in_part;
  const std::int64_t in_elements = share.packs - begin;
  const std::int64_t there = in_share < in_elements ? in_share : in_elements;
  const auto left = static_cast<int>(there < share.chunk_packs ? there : share.chunk_packs);
  return {begin + threadIdx.x, left - static_cast<int>(threadIdx.x),
          program.is_aligned && left == share.chunk_packs && (begin + left) * width <= program.count};
}

/// Loads and stores of a thread's packs; those of a whole chunk need no questions.
template <class T, int count>
__device__ void load_packs(const AllreduceProgram& program, const T* elements, const ChunkShare& chunk,
                           Pack (&packs)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) {
    constexpr int step = most_allreduce_threads;
    if (chunk.is_whole) {
      packs[i] = reinterpret_cast<const Pack*>(elements)[chunk.first + i * step];
    } else if (i * step < chunk.left) {
      packs[i] = load_unit<Pack>(elements, chunk.first + i * step, program.count, program.is_aligned);
    }
  }
}
template <class T, int count>
__device__ void store_packs(const AllreduceProgram& program, T* elements, const ChunkShare& chunk,
                            const Pack (&packs)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) {
    constexpr int step = most_allreduce_threads;
    if (chunk.is_whole) {
      reinterpret_cast<Pack*>(elements)[chunk.first + i * step] = packs[i];
    } else if (i * step < chunk.left) {
      store_unit(elements, chunk.first + i * step, program.count, program.is_aligned, packs[i]);
    }
  }
}

/// Stores this rank's elements of a chunk of each peer's part into that peer's scratch.
template <class T, int most_ranks, int at_once>
__device__ void scatter(const AllreduceProgram& program, const Share& share, std::int64_t chunk,
                        std::uint64_t number) {
  const auto* const elements = reinterpret_cast<const T*>(program.elements[program.rank]);
  for_each_peer<most_ranks>(program, [&](int peer) {
    const ChunkShare mine = chunk_share<T>(program, share, chunk, peer);
    Pack packs[at_once];
    load_packs(program, elements, mine, packs);
    Pack* const slot = slot_at<at_once>(program, peer, program.rank, number) + threadIdx.x;
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      if (mine.is_whole || i * most_allreduce_threads < mine.left)
        slot[i * most_allreduce_threads] = packs[i];
    }
  });
  // Publishes to the peers: the chunk; that this rank has read what they will overwrite with the result; and that it has
  // combined the chunk two before, whose slot is free.
  release_flags(program, program.arrived, number + 1);
}

/// Combines a chunk of this rank's part, and stores it into all ranks' elements.
template <class T, ReduceOperation operation, int most_ranks, int at_once>
__device__ void reduce(const AllreduceProgram& program, const Share& share, std::int64_t chunk,
                       std::uint64_t number) {
  const ChunkShare mine = chunk_share<T>(program, share, chunk, program.rank);
  Pack own[at_once];
  load_packs(program, reinterpret_cast<const T*>(program.elements[program.rank]), mine, own);
  Pack packs[at_once][most_ranks];
#pragma unroll
  for (int rank = 0; rank < most_ranks; ++rank) {
    if (rank >= program.ranks || rank == program.rank) continue;
    const Pack* const slot = slot_at<at_once>(program, program.rank, rank, number) + threadIdx.x;
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      if (!mine.is_whole && i * most_allreduce_threads >= mine.left) continue;
      const auto words = __ldcg(reinterpret_cast<const ulonglong2*>(slot + i * most_allreduce_threads));
      packs[i][rank] = {words.x, words.y};
    }
  }
#pragma unroll
  for (int i = 0; i < at_once; ++i) {
    set_own(program, packs[i], own[i]);
#pragma unroll
    for (int w = 0; w < words_per_pack; ++w)
      own[i].word[w] =
          combine_words<T, operation, most_ranks>(program, [&](int rank) { return packs[i][rank].word[w]; });
  }
  const auto store = [&](int rank) {
    store_packs(program, reinterpret_cast<T*>(program.elements[rank]), mine, own);
  };
  for_each_peer<most_ranks>(program, store);
  store(program.rank);
}

/// Why a slot that is still read isn't overwritten: chunk c + 1 is scattered when this block has combined chunk c - 1, for
/// which it has awaited the peers' scattering of that; they did so after combining chunk c - 3, the last in the slot. And
/// a launch ends when all have combined all.
///
/// Two blocks fit into a multiprocessor's registers: with more for one, it would find no room beside another kernel's blocks
/// until that ends, and hide nothing behind it.
template <class T, ReduceOperation operation, int most_ranks, int at_once>
__global__ void __launch_bounds__(most_allreduce_threads, 2)
    two_shot_push(const __grid_constant__ AllreduceProgram program) {
  static_assert(push_slots == 4);
  begin_chained();
  const std::uint64_t number = program.state->epochs[blockIdx.x];
  const Share share = share_of_block<T, at_once>(program);
  bool met = program.state->failed == 0;
  if (met) {
    scatter<T, most_ranks, at_once>(program, share, 0, number);
    for (std::int64_t chunk = 0; chunk < share.chunks && met; ++chunk) {
      const std::uint64_t now = number + static_cast<std::uint64_t>(chunk);
      if (chunk + 1 < share.chunks) scatter<T, most_ranks, at_once>(program, share, chunk + 1, now + 1);
      met = await_flags(program, program.arrived, now + 1);
      if (met) reduce<T, operation, most_ranks, at_once>(program, share, chunk, now);
    }
    // Publishes to the peers: this block's share of this rank's part, in their elements.
    if (met)
      static_cast<void>(meet(program, program.done, number + static_cast<std::uint64_t>(share.chunks)));
  }
  end_chained();
  if (threadIdx.x == 0) program.state->epochs[blockIdx.x] = number + static_cast<std::uint64_t>(share.chunks);
}

template <int packs_at_once>
struct TwoShotPush {
  static constexpr std::string_view name = "comm::two_shot_push";
  template <class T, ReduceOperation operation, int most_ranks>
  [[nodiscard]] static auto kernel() {
    constexpr int at_once = most_ranks > 4 ? fewer_push_packs : packs_at_once;
    return &two_shot_push<T, operation, most_ranks, at_once>;
  }
};

}  // namespace

AllreduceKernel two_shot_push_kernel(int packs_at_once) {
  return packs_at_once == fewer_push_packs ? kernel_of<TwoShotPush<fewer_push_packs>>()
                                           : kernel_of<TwoShotPush<most_push_packs>>();
}

}  // namespace selvage::detail
