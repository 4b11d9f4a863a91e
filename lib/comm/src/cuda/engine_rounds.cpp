#include "engine_rounds.hpp"

#include <algorithm>

namespace selvage::detail {
namespace {

/// What is left of a copy when the next to the same GPU may begin: about what a flag between streams takes, 5 us.
constexpr std::int64_t overlapped_bytes = 1 << 21;

void enqueue_bytes(std::byte* to, const std::byte* from, std::int64_t bytes, cudaStream_t stream) {
  if (bytes == 0) return;
  check_cuda(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice, stream),
             "cudaMemcpyAsync");
}

}  // namespace

EngineRounds::EngineRounds(const PeerBlocks& flags, int rank, int ranks, int rounds)
    : flags_(flags), rank_(rank), ranks_(ranks), rounds_(rounds) {}

void EngineRounds::begin(cudaStream_t stream) {
  round_ = 0;
  for (const SideStream& side : streams_) side.fork(stream);
}

int EngineRounds::permitted_by(int round) const {
  return (receiver_in(round) - distance_in(round - 1) + ranks_) % ranks_;
}

void EngineRounds::copy(const Move& move) {
  const cudaStream_t stream = streams_[static_cast<std::size_t>(round_ % 2)].get();
  if (round_ > 0) await_flag(flag(rank_, round_), stream);
  const std::int64_t last = move.bytes > 2 * overlapped_bytes ? overlapped_bytes : 0;
  const std::int64_t first = move.bytes - last;
  enqueue_bytes(move.to, move.from, first, stream);
  const int next = round_ + 1;
  if (next < rounds_) {
    // Publishes nothing: it keeps two from sending to one.
    const int sender = (receiver() - distance_in(next) + ranks_) % ranks_;
    set_flag(flag(sender, next), stream);
  }
  enqueue_bytes(move.to + first, move.from + first, last, stream);
  // Publishes to the receiver: what was copied.
  if (move.arrived != nullptr) set_flag(move.arrived, stream);
  round_ = next;
}

void EngineRounds::hold_back(const Event& event) const {
  for (const SideStream& side : streams_) event.hold_back(side.get());
}

void EngineRounds::end(cudaStream_t stream) const {
  for (const SideStream& side : streams_) side.join(stream);
}

}  // namespace selvage::detail
