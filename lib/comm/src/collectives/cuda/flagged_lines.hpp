#pragma once

#include "allreduce_wait.hpp"
#include "allreduce_words.hpp"

namespace selvage::detail {

/// Elements that carry the epoch they belong to, so that a reader that sees the epoch sees the elements too, and nobody
/// waits for a flag besides.

/// LL: a word and the epoch twice, in 16 bytes. The hardware writes and reads 8 aligned bytes at once.
__device__ inline void store_packet(std::byte* to, ElementWord word, std::uint32_t epoch) {
  asm volatile("st.relaxed.sys.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to),
               "r"(static_cast<std::uint32_t>(word)), "r"(epoch), "r"(static_cast<std::uint32_t>(word >> 32)),
               "r"(epoch)
               : "memory");
}
/// \return whether both halves are of this epoch
[[nodiscard]] __device__ inline bool load_packet(const std::byte* from, std::uint32_t epoch,
                                                 ElementWord& word) {
  uint4 packet;
  asm volatile("ld.relaxed.sys.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(packet.x), "=r"(packet.y), "=r"(packet.z), "=r"(packet.w)
               : "l"(from)
               : "memory");
  word = ElementWord{packet.z} << 32 | packet.x;
  return packet.y == epoch && packet.w == epoch;
}

/// LL128: 15 words and the epoch, in 128 bytes that 8 neighbouring threads of a warp write and read in one instruction.
/// NVLink and the L2 cache bring its bytes in ascending order, so that who has seen its epoch and then reads again has its
/// words; NCCL's protocol of this name stands on the same.
inline constexpr int lanes_per_line = 8;
inline constexpr int lines_per_warp = 32 / lanes_per_line;

/// A thread's share of a line.
struct LineShare {
  ElementWord first;
  ElementWord second;  ///< of the last lane: the epoch
};

struct LineLane {
  int lane = static_cast<int>(threadIdx.x) % lanes_per_line;
  [[nodiscard]] __device__ bool has_epoch() const { return lane == lanes_per_line - 1; }

  __device__ void store(std::byte* line, const LineShare& share) const {
    // Threads that part ways before would store the line in pieces.
    __syncwarp();
    asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(line + lane * 16), "l"(share.first),
                 "l"(share.second)
                 : "memory");
  }
  [[nodiscard]] __device__ LineShare load(const std::byte* line) const {
    LineShare share;
    asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(share.first), "=l"(share.second)
                 : "l"(line + lane * 16)
                 : "memory");
    return share;
  }

  /// This thread's share of the words of a line, or none beyond `words`.
  /// \param word  of the elements, the line's first
  template <class T>
  [[nodiscard]] __device__ LineShare load_elements(const AllreduceProgram& program, std::int64_t word,
                                                   std::int64_t words, std::uint64_t epoch) const {
    const auto* const elements = reinterpret_cast<const T*>(program.elements[program.rank]);
    const std::int64_t at = word + 2 * lane;
    LineShare share{0, epoch};
    if (at < words) share.first = load_unit<ElementWord>(elements, at, program.count, program.is_aligned);
    if (!has_epoch())
      share.second =
          at + 1 < words ? load_unit<ElementWord>(elements, at + 1, program.count, program.is_aligned) : 0;
    return share;
  }
  template <class T>
  __device__ void store_elements(const AllreduceProgram& program, std::int64_t word, std::int64_t words,
                                 const LineShare& share) const {
    auto* const elements = reinterpret_cast<T*>(program.elements[program.rank]);
    const std::int64_t at = word + 2 * lane;
    if (at < words) store_unit(elements, at, program.count, program.is_aligned, share.first);
    if (!has_epoch() && at + 1 < words)
      store_unit(elements, at + 1, program.count, program.is_aligned, share.second);
  }
};

/// Waits, by whole warps, for the peers' lines at `line_of(rank)`.
/// \param shares  by rank; this rank's own isn't touched
/// \return false when the time is up
template <int most_ranks, class LineOf>
[[nodiscard]] __device__ bool await_lines(const AllreduceProgram& program, const LineLane& lane,
                                          std::uint64_t epoch, const LineOf& line_of,
                                          LineShare (&shares)[most_ranks]) {
  const auto is_here = [&] {
    bool here = true;
#pragma unroll
    for (int rank = 0; rank < most_ranks; ++rank) {
      if (rank >= program.ranks || rank == program.rank) continue;
      shares[rank] = lane.load(line_of(rank));
    }
#pragma unroll
    for (int rank = 0; rank < most_ranks; ++rank) {
      if (rank >= program.ranks || rank == program.rank) continue;
      here = here && (!lane.has_epoch() || shares[rank].second == epoch);
    }
    return here;
  };
  const bool met = poll<WarpVote>(program, is_here, [&] {
    for (int rank = 0; rank < program.ranks; ++rank) {
      if (rank == program.rank || !lane.has_epoch()) continue;
      const std::uint64_t seen = lane.load(line_of(rank)).second;
      if (seen != epoch) report_late(program, rank, epoch, seen);
    }
  });
  // A line's words may have been read before they came, and its epoch after. Only a rank that has failed overwrites it.
  return met && WarpVote::all(is_here());
}

/// The combined share of all ranks' shares.
template <class T, ReduceOperation operation, int most_ranks>
[[nodiscard]] __device__ LineShare combine_shares(const AllreduceProgram& program, const LineLane& lane,
                                                  const LineShare (&shares)[most_ranks],
                                                  std::uint64_t epoch) {
  LineShare combined;
  combined.first =
      combine_words<T, operation, most_ranks>(program, [&](int rank) { return shares[rank].first; });
  combined.second =
      combine_words<T, operation, most_ranks>(program, [&](int rank) { return shares[rank].second; });
  if (lane.has_epoch()) combined.second = epoch;
  return combined;
}

/// The i-th other rank, from 1 on. Each rank begins with another, so that links share the work.
[[nodiscard]] __device__ inline int peer_at(const AllreduceProgram& program, int i) {
  const int peer = program.rank + i;
  return peer < program.ranks ? peer : peer - program.ranks;
}
/// Calls `visit(rank)` for all other ranks.
template <int most_ranks, class Visit>
__device__ void for_each_peer(const AllreduceProgram& program, const Visit& visit) {
#pragma unroll
  for (int i = 1; i < most_ranks; ++i) {
    if (i < program.ranks) visit(peer_at(program, i));
  }
}

[[nodiscard]] __device__ inline ElementWord chosen(bool first, ElementWord a, ElementWord b) {
  return first ? a : b;
}
[[nodiscard]] __device__ inline LineShare chosen(bool first, const LineShare& a, const LineShare& b) {
  return {chosen(first, a.first, b.first), chosen(first, a.second, b.second)};
}
[[nodiscard]] __device__ inline Pack chosen(bool first, const Pack& a, const Pack& b) {
  return {chosen(first, a.word[0], b.word[0]), chosen(first, a.word[1], b.word[1])};
}

/// Puts this rank's own share among the others'. Chosen word by word: a store where `rank` is program.rank would be compiled
/// as one to an unknown place, which keeps all shares in memory.
template <class Share, int most_ranks>
__device__ void set_own(const AllreduceProgram& program, Share (&shares)[most_ranks], const Share& own) {
#pragma unroll
  for (int rank = 0; rank < most_ranks; ++rank)
    shares[rank] = chosen(rank == program.rank, own, shares[rank]);
}

/// A whole kernel: this thread's lines of one epoch, until a wait ends badly.
/// \tparam lanes   threads that share a line
/// \param reduce   (epoch, line) -> whether all peers' lines came
template <int lanes, class Reduce>
__device__ void reduce_own_lines(const AllreduceProgram& program, const Reduce& reduce) {
  begin_chained();
  const std::uint64_t epoch = program.state->epochs[blockIdx.x] + 1;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x / lanes;
  bool met = true;
  for (std::int64_t line = (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x) / lanes;
       met && line < program.lines; line += stride)
    met = reduce(epoch, line);
  end_epoch(program, epoch, met);
}

}  // namespace selvage::detail
