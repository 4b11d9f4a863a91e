#include "flagged_lines.hpp"
#include "launch_chained.hpp"

namespace selvage::detail {
namespace {

enum Phase { scattered, gathered };

/// Peers' parts of a line that a thread has in its registers.
constexpr int parts_at_once = 4;

/// Of one epoch lie, by the rank that wrote them, the lines that the owner combines, then those that others have combined.
__device__ std::byte* line_at(const AllreduceProgram& program, int owner, Phase phase, int writer,
                              std::uint64_t epoch, std::int64_t line) {
  const auto parity = static_cast<std::int64_t>(epoch % 2);
  const std::int64_t row = (parity * 2 + phase) * program.ranks + writer;
  return program.scratch[owner] + (row * program.lines + line) * ll128_line_bytes;
}

/// One line of each rank's part. Every rank has as many, though the last ranks' may lie beyond the elements.
template <class T, ReduceOperation operation, int most_ranks>
[[nodiscard]] __device__ bool reduce_lines(const AllreduceProgram& program, const LineLane& lane,
                                           std::uint64_t epoch, std::int64_t line) {
  const std::int64_t words =
      (program.count * static_cast<std::int64_t>(sizeof(T)) + element_word_bytes - 1) / element_word_bytes;
  const auto word_of = [&](int rank) { return (rank * program.lines + line) * ll128_line_words; };
  const LineShare own = lane.load_elements<T>(program, word_of(program.rank), words, epoch);
#pragma unroll
  for (int first = 1; first < most_ranks; first += parts_at_once) {
    // Loads go out before the first store, which the compiler moves none across.
    LineShare parts[parts_at_once];
#pragma unroll
    for (int i = 0; i < parts_at_once; ++i) {
      if (first + i < program.ranks)
        parts[i] = lane.load_elements<T>(program, word_of(peer_at(program, first + i)), words, epoch);
    }
#pragma unroll
    for (int i = 0; i < parts_at_once; ++i) {
      if (first + i < program.ranks)
        lane.store(line_at(program, peer_at(program, first + i), scattered, program.rank, epoch, line),
                   parts[i]);
    }
  }
  LineShare shares[most_ranks];
  const auto scattered_by = [&](int rank) {
    return line_at(program, program.rank, scattered, rank, epoch, line);
  };
  if (!await_lines(program, lane, epoch, scattered_by, shares)) return false;
  set_own(program, shares, own);
  const LineShare combined = combine_shares<T, operation>(program, lane, shares, epoch);
  for_each_peer<most_ranks>(program, [&](int peer) {
    lane.store(line_at(program, peer, gathered, program.rank, epoch, line), combined);
  });
  const auto combined_by = [&](int rank) {
    return line_at(program, program.rank, gathered, rank, epoch, line);
  };
  if (!await_lines(program, lane, epoch, combined_by, shares)) return false;
  set_own(program, shares, combined);
#pragma unroll
  for (int rank = 0; rank < most_ranks; ++rank) {
    if (rank < program.ranks) lane.store_elements<T>(program, word_of(rank), words, shares[rank]);
  }
  return true;
}

/// Why a line that is still read isn't overwritten: as in one_shot_ll; of every rank, each block gets lines.
template <class T, ReduceOperation operation, int most_ranks>
__global__ void __launch_bounds__(most_line_threads(most_ranks))
    two_shot_ll128(const __grid_constant__ AllreduceProgram program) {
  const LineLane lane;
  // By whole warps: there are a multiple of lines_per_warp lines.
  reduce_own_lines<lanes_per_line>(program, [&](std::uint64_t epoch, std::int64_t line) {
    return reduce_lines<T, operation, most_ranks>(program, lane, epoch, line);
  });
}

struct TwoShotLl128 {
  static constexpr std::string_view name = "comm::two_shot_ll128";
  template <class T, ReduceOperation operation, int most_ranks>
  [[nodiscard]] static auto kernel() {
    return &two_shot_ll128<T, operation, most_ranks>;
  }
};

}  // namespace

AllreduceKernel two_shot_ll128_kernel() {
  return kernel_of<TwoShotLl128>();
}

}  // namespace selvage::detail
