#include "allreduce_wait.hpp"
#include "flagged_lines.hpp"
#include "launch_chained.hpp"

namespace selvage::detail {
namespace {

/// A word's elements while they are being combined, and as ranks send them.
template <class T>
union PartialWord {
  static constexpr int width = WordElements<T>::width;
  static constexpr int packets = static_cast<int>(sizeof(Accumulator<T>) / sizeof(T));
  Accumulator<T> value[width];
  ElementWord word[packets];
};

/// Who takes part: a power of two. Of the others each is the higher rank of a pair, whose lower one takes part for both.
struct Players {
  int count = 1;
  int pairs;  ///< of the first ranks
  int rank;

  __device__ explicit Players(const AllreduceProgram& program) : rank(program.rank) {
    while (2 * count <= program.ranks) count *= 2;
    pairs = program.ranks - count;
  }
  [[nodiscard]] __device__ bool is_paired() const { return rank < 2 * pairs; }
  [[nodiscard]] __device__ bool is_one() const { return !is_paired() || rank % 2 == 0; }
  /// The number of this rank among those that take part.
  [[nodiscard]] __device__ int number() const { return is_paired() ? rank / 2 : rank - pairs; }
  [[nodiscard]] __device__ int rank_of(int player) const {
    return player < pairs ? 2 * player : player + pairs;
  }
};

/// Packets of one epoch lie by the rank that wrote them: a rank hears at most once from each other.
template <class T>
__device__ std::byte* packets_at(const AllreduceProgram& program, int owner, int writer, std::uint64_t epoch,
                                 std::int64_t index) {
  const auto parity = static_cast<std::int64_t>(epoch % 2);
  return program.scratch[owner] + ((parity * program.ranks + writer) * program.lines + index) *
                                      PartialWord<T>::packets * ll_packet_bytes;
}

template <class T>
__device__ void send(const AllreduceProgram& program, int to, std::uint64_t epoch, std::int64_t index,
                     const PartialWord<T>& partial) {
  std::byte* const packets = packets_at<T>(program, to, program.rank, epoch, index);
#pragma unroll
  for (int i = 0; i < PartialWord<T>::packets; ++i)
    store_packet(packets + i * ll_packet_bytes, partial.word[i], static_cast<std::uint32_t>(epoch));
}

/// \return false when the time is up
template <class T>
[[nodiscard]] __device__ bool receive(const AllreduceProgram& program, int from, std::uint64_t epoch,
                                      std::int64_t index, PartialWord<T>& partial) {
  const std::byte* const packets = packets_at<T>(program, program.rank, from, epoch, index);
  const auto flag = static_cast<std::uint32_t>(epoch);
  const auto is_here = [&] {
    bool here = true;
#pragma unroll
    for (int i = 0; i < PartialWord<T>::packets; ++i) {
      const bool is_of_epoch = load_packet(packets + i * ll_packet_bytes, flag, partial.word[i]);
      here = here && is_of_epoch;
    }
    return here;
  };
  return poll<AloneVote>(program, is_here, [&] {
    report_late(program, from, epoch, *reinterpret_cast<const volatile std::uint32_t*>(packets + 4));
  });
}

template <class T, ReduceOperation operation>
__device__ void combine_partials(const PartialWord<T>& lower, const PartialWord<T>& higher,
                                 PartialWord<T>& result) {
#pragma unroll
  for (int k = 0; k < PartialWord<T>::width; ++k)
    result.value[k] = combine<operation>(lower.value[k], higher.value[k]);
}

/// Players at growing distances swap what they have combined. The lower one's values come first, so both find the same bits.
/// \return whether all that this rank waits for came
template <class T, ReduceOperation operation>
[[nodiscard]] __device__ bool swap_by_players(const AllreduceProgram& program, const Players& players,
                                              std::uint64_t epoch, std::int64_t index, PartialWord<T>& mine) {
  PartialWord<T> theirs;
  if (players.is_paired()) {
    if (!receive<T>(program, program.rank + 1, epoch, index, theirs)) return false;
    combine_partials<T, operation>(mine, theirs, mine);
  }
  for (int distance = 1; distance < players.count; distance *= 2) {
    const int peer = players.rank_of(players.number() ^ distance);
    send<T>(program, peer, epoch, index, mine);
    if (!receive<T>(program, peer, epoch, index, theirs)) return false;
    if (peer < program.rank) {
      combine_partials<T, operation>(theirs, mine, mine);
    } else {
      combine_partials<T, operation>(mine, theirs, mine);
    }
  }
  if (players.is_paired()) send<T>(program, program.rank + 1, epoch, index, mine);
  return true;
}

template <class T, ReduceOperation operation>
[[nodiscard]] __device__ bool reduce_word(const AllreduceProgram& program, const Players& players,
                                          std::uint64_t epoch, std::int64_t index) {
  T* const elements = reinterpret_cast<T*>(program.elements[program.rank]);
  const ElementWord own = load_unit<ElementWord>(elements, index, program.count, program.is_aligned);
  PartialWord<T> mine;
#pragma unroll
  for (int k = 0; k < PartialWord<T>::width; ++k)
    mine.value[k] = to_accumulator(reinterpret_cast<const WordElements<T>&>(own).element[k]);
  if (players.is_one()) {
    if (!swap_by_players<T, operation>(program, players, epoch, index, mine)) return false;
  } else {
    send<T>(program, program.rank - 1, epoch, index, mine);
    if (!receive<T>(program, program.rank - 1, epoch, index, mine)) return false;
  }
  WordElements<T> result;
#pragma unroll
  for (int k = 0; k < PartialWord<T>::width; ++k) {
    auto value = mine.value[k];
    if (operation == ReduceOperation::sum && program.operation == ReduceOperation::average)
      value = conclude<ReduceOperation::average>(value, program.ranks);
    result.element[k] = from_accumulator<T>(value);
  }
  store_unit(elements, index, program.count, program.is_aligned,
             reinterpret_cast<const ElementWord&>(result));
  return true;
}

/// Why a packet that is still read isn't overwritten: who has one from a rank has sent it one, too, in the same launch. The packet of
/// the same parity is stored two launches later, by a rank that has had this one's of the launch between, which this one's stream
/// began after it had read.
template <class T, ReduceOperation operation>
__global__ void __launch_bounds__(most_allreduce_threads)
    recursive_doubling_ll(const __grid_constant__ AllreduceProgram program) {
  const Players players(program);
  reduce_own_lines<1>(program, [&](std::uint64_t epoch, std::int64_t word) {
    return reduce_word<T, operation>(program, players, epoch, word);
  });
}

struct RecursiveDoublingLl {
  static constexpr std::string_view name = "comm::recursive_doubling_ll";
  template <class T, ReduceOperation operation, int /*most_ranks*/>
  [[nodiscard]] static auto kernel() {
    return &recursive_doubling_ll<T, operation>;
  }
};

}  // namespace

AllreduceKernel recursive_doubling_ll_kernel() {
  return kernel_of<RecursiveDoublingLl>();
}

}  // namespace selvage::detail
