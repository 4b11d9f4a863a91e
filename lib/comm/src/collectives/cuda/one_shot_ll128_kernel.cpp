#include "flagged_lines.hpp"
#include "launch_chained.hpp"

namespace selvage::detail {
namespace {

/// Lines of one epoch lie by the rank that wrote them.
__device__ std::byte* line_at(const AllreduceProgram& program, int owner, int writer, std::uint64_t epoch,
                              std::int64_t line) {
  const auto parity = static_cast<std::int64_t>(epoch % 2);
  return program.scratch[owner] +
         ((parity * program.ranks + writer) * program.lines + line) * ll128_line_bytes;
}

template <class T, ReduceOperation operation, int most_ranks>
[[nodiscard]] __device__ bool reduce_line(const AllreduceProgram& program, const LineLane& lane,
                                          std::uint64_t epoch, std::int64_t line) {
  const std::int64_t words =
      (program.count * static_cast<std::int64_t>(sizeof(T)) + element_word_bytes - 1) / element_word_bytes;
  const std::int64_t first = line * ll128_line_words;
  const LineShare own = lane.load_elements<T>(program, first, words, epoch);
  for_each_peer<most_ranks>(
      program, [&](int peer) { lane.store(line_at(program, peer, program.rank, epoch, line), own); });
  LineShare shares[most_ranks];
  if (!await_lines(
          program, lane, epoch, [&](int rank) { return line_at(program, program.rank, rank, epoch, line); },
          shares))
    return false;
  set_own(program, shares, own);
  lane.store_elements<T>(program, first, words, combine_shares<T, operation>(program, lane, shares, epoch));
  return true;
}

/// Why a line that is still read isn't overwritten: as in one_shot_ll.
template <class T, ReduceOperation operation, int most_ranks>
__global__ void __launch_bounds__(most_allreduce_threads)
    one_shot_ll128(const __grid_constant__ AllreduceProgram program) {
  const LineLane lane;
  // By whole warps: there are a multiple of lines_per_warp lines.
  reduce_own_lines<lanes_per_line>(program, [&](std::uint64_t epoch, std::int64_t line) {
    return reduce_line<T, operation, most_ranks>(program, lane, epoch, line);
  });
}

struct OneShotLl128 {
  static constexpr std::string_view name = "comm::one_shot_ll128";
  template <class T, ReduceOperation operation, int most_ranks>
  [[nodiscard]] static auto kernel() {
    return &one_shot_ll128<T, operation, most_ranks>;
  }
};

}  // namespace

AllreduceKernel one_shot_ll128_kernel() {
  return kernel_of<OneShotLl128>();
}

}  // namespace selvage::detail
