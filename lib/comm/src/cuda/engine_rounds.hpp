#pragma once

#include "../peer_blocks.hpp"
#include "stream.hpp"
#include "stream_flag.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>

namespace selvage::detail {

/// Copies by engines from every rank to every other, in rounds in which each GPU sends to one other and is sent to by one:
/// two that send to the same share its link, fall behind, and then get in the way of others.
///
/// A rank begins its copy of a round when the one that sent to the same GPU in the round before has done so and has set this
/// rank's flag of the round. Each copy is shared between lanes, a stream and an engine each, with flags of their own: while
/// one waits, the others have the link. Every rank enqueues the same rounds, and waits for earlier ones only, so they come
/// to an end even where streams share a queue of the hardware.
class EngineRounds {
 public:
  static constexpr int lanes = 2;

  /// \param flags   rounds * lanes StreamFlags of each rank, zero before every use
  /// \param rounds  of one use: a multiple of ranks - 1
  EngineRounds(const PeerBlocks& flags, int rank, int ranks, int rounds);

  struct Move {
    std::byte* to;  ///< in the memory of receiver()
    const std::byte* from;
    std::int64_t bytes;
    StreamFlag*
        arrived;  ///< `lanes` of the receiver's: set when that lane's share has been copied; may be null
  };

  /// What follows is enqueued behind what `stream` was given before.
  void begin(cudaStream_t stream);
  /// Of the round that comes next.
  [[nodiscard]] int receiver() const { return receiver_in(round_); }
  /// From a round's senders to their receivers.
  [[nodiscard]] int distance() const { return distance_in(round_); }
  void copy(const Move& move);
  /// Rounds that follow begin after `event`.
  void hold_back(const Event& event) const;
  /// What `stream` is given next comes after all rounds.
  void end(cudaStream_t stream) const;

  /// Who sets this rank's flags of a round but the first, which needs none.
  [[nodiscard]] int permitted_by(int round) const {
    return (receiver_in(round) - distance_in(round - 1) + ranks_) % ranks_;
  }

 private:
  [[nodiscard]] int distance_in(int round) const { return round % (ranks_ - 1) + 1; }
  [[nodiscard]] int receiver_in(int round) const { return (rank_ + distance_in(round)) % ranks_; }
  [[nodiscard]] StreamFlag* flag(int rank, int round, int lane) const {
    return reinterpret_cast<StreamFlag*>(flags_.of(rank)) + round * lanes + lane;
  }
  void copy_share(const Move& move, int lane) const;

  const PeerBlocks& flags_;
  int rank_;
  int ranks_;
  int rounds_;
  int round_ = 0;
  std::deque<SideStream> streams_{lanes};
};

}  // namespace selvage::detail
