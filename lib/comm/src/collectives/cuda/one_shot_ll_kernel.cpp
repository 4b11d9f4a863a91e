#include "allreduce_wait.hpp"
#include "flagged_lines.hpp"
#include "launch_chained.hpp"

namespace selvage::detail {
namespace {

/// Packets of one epoch lie by the rank that wrote them.
__device__ std::byte* packet_at(const AllreduceProgram& program, int owner, int writer, std::uint64_t epoch,
                                std::int64_t index) {
  const auto parity = static_cast<std::int64_t>(epoch % 2);
  return program.scratch[owner] +
         ((parity * program.ranks + writer) * program.lines + index) * ll_packet_bytes;
}

template <class T, ReduceOperation operation, int most_ranks>
[[nodiscard]] __device__ bool reduce_word(const AllreduceProgram& program, std::uint64_t epoch,
                                          std::int64_t index) {
  T* const elements = reinterpret_cast<T*>(program.elements[program.rank]);
  const ElementWord own = load_unit<ElementWord>(elements, index, program.count, program.is_aligned);
  const auto flag = static_cast<std::uint32_t>(epoch);
  for_each_peer<most_ranks>(program, [&](int peer) {
    store_packet(packet_at(program, peer, program.rank, epoch, index), own, flag);
  });
  ElementWord words[most_ranks];
  const auto is_here = [&] {
    bool here = true;
#pragma unroll
    for (int rank = 0; rank < most_ranks; ++rank) {
      if (rank >= program.ranks || rank == program.rank) continue;
      const bool is_of_epoch =
          load_packet(packet_at(program, program.rank, rank, epoch, index), flag, words[rank]);
      here = here && is_of_epoch;
    }
    return here;
  };
  const bool met = poll<AloneVote>(program, is_here, [&] {
    for (int rank = 0; rank < program.ranks; ++rank) {
      ElementWord word = 0;
      const std::byte* const packet = packet_at(program, program.rank, rank, epoch, index);
      if (rank != program.rank && !load_packet(packet, flag, word))
        report_late(program, rank, epoch, *reinterpret_cast<const volatile std::uint32_t*>(packet + 4));
    }
  });
  if (!met) return false;
  set_own(program, words, own);
  const ElementWord result =
      combine_words<T, operation, most_ranks>(program, [&](int rank) { return words[rank]; });
  store_unit(elements, index, program.count, program.is_aligned, result);
  return true;
}

/// Why a packet that is still read isn't overwritten: that of the same parity is stored two launches later, by a rank
/// that has had this one's packets of the launch between, which this one's stream began after it had read.
template <class T, ReduceOperation operation, int most_ranks>
__global__ void __launch_bounds__(most_allreduce_threads)
    one_shot_ll(const __grid_constant__ AllreduceProgram program) {
  reduce_own_lines<1>(program, [&](std::uint64_t epoch, std::int64_t word) {
    return reduce_word<T, operation, most_ranks>(program, epoch, word);
  });
}

struct OneShotLl {
  static constexpr std::string_view name = "comm::one_shot_ll";
  template <class T, ReduceOperation operation, int most_ranks>
  [[nodiscard]] static auto kernel() {
    return &one_shot_ll<T, operation, most_ranks>;
  }
};

}  // namespace

AllreduceKernel one_shot_ll_kernel() {
  return kernel_of<OneShotLl>();
}

}  // namespace selvage::detail
