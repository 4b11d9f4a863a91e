#include "engine_rounds.hpp"

#include <algorithm>

namespace selvage::detail {

EngineRounds::EngineRounds(const PeerBlocks& flags, int rank, int ranks, int rounds)
    : flags_(flags), rank_(rank), ranks_(ranks), rounds_(rounds) {}

void EngineRounds::begin(cudaStream_t stream) {
  round_ = 0;
  for (const SideStream& side : streams_) side.fork(stream);
}

void EngineRounds::copy(const Move& move) {
  for (int lane = 0; lane < lanes; ++lane) copy_share(move, lane);
  ++round_;
}

void EngineRounds::copy_share(const Move& move, int lane) const {
  const cudaStream_t stream = streams_[static_cast<std::size_t>(lane)].get();
  if (round_ > 0) await_flag(flag(rank_, round_, lane), stream);
  constexpr std::int64_t grain = 4096;
  const std::int64_t share = (move.bytes + lanes * grain - 1) / (lanes * grain) * grain;
  const std::int64_t begin = std::min(lane * share, move.bytes);
  const std::int64_t bytes = std::min(share, move.bytes - begin);
  if (bytes > 0)
    check_cuda(cudaMemcpyAsync(move.to + begin, move.from + begin, static_cast<std::size_t>(bytes),
                               cudaMemcpyDeviceToDevice, stream),
               "cudaMemcpyAsync");
  const int next = round_ + 1;
  if (next < rounds_) {
    // Publishes nothing: it keeps two from sending to one.
    const int sender = (receiver() - distance_in(next) + ranks_) % ranks_;
    set_flag(flag(sender, next, lane), stream);
  }
  // Publishes to the receiver: what was copied.
  if (move.arrived != nullptr) set_flag(move.arrived + lane, stream);
}

void EngineRounds::hold_back(const Event& event) const {
  for (const SideStream& side : streams_) event.hold_back(side.get());
}

void EngineRounds::end(cudaStream_t stream) const {
  for (const SideStream& side : streams_) side.join(stream);
}

}  // namespace selvage::detail
