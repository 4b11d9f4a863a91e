#include "../allreduces/part.hpp"
#include "../device_allreduce.hpp"
#include "device_collective.hpp"
#include "engine_rounds.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace selvage::detail {
namespace {

/// Each rank's part is combined by itself, and copy engines give it to all peers.
class ByEngines : public BetweenElements {
 protected:
  /// \param pieces          of a part, that are under way one after the other
  /// \param brings_elements whether engines bring the peers' elements as well
  ByEngines(const AllreduceParts& parts, const Shape& shape, int pieces, bool brings_elements)
      : BetweenElements(parts, two_shot_kernel(), shape),
        peers_(program_.ranks - 1),
        pieces_(pieces),
        round_count_(peers_ * pieces * (brings_elements ? 2 : 1)),
        flag_count_((round_count_ + (brings_elements ? peers_ * pieces : 0)) * EngineRounds::lanes),
        flags_(parts.context, parts.executor, all_ranks(parts), flag_bytes(), collective_construction),
        rounds_(flags_, program_.rank, program_.ranks, round_count_),
        meeting_(program_) {
    meeting_.blocks = 1;
    meet_kernel().load(meeting_);
    load_watch_flags();
    watch_each_flag();
  }

  void meet(cudaStream_t stream) const { meet_kernel().launch(meeting_, stream); }
  void begin_rounds(cudaStream_t stream) {
    rounds_.begin(stream);
    watching_.fork(stream);
  }
  /// Gives a piece of this rank's part to all peers.
  void give(int piece) {
    for (int i = 0; i < peers_; ++i) {
      const ByteRange own = bytes_of(program_.rank, piece);
      rounds_.copy({.to = program_.elements[rounds_.receiver()] + own.begin,
                    .from = program_.elements[program_.rank] + own.begin,
                    .bytes = own.count,
                    .arrived = nullptr});
    }
  }
  /// All ranks' copies have arrived. The kernel that watches comes last: it waits for streams that may share its queue.
  void end_rounds(cudaStream_t stream) {
    if (watched_.count > 0) launch_watch_flags(program_, watched_, watching_.get());
    rounds_.end(stream);
    watching_.join(stream);
    // No peer sets one before it has come to the next call's meeting.
    check_cuda(cudaMemsetAsync(flag(program_.rank, 0), 0, flag_bytes(), stream), "cudaMemsetAsync");
    meet(stream);
  }

  struct ByteRange {
    std::int64_t begin;
    std::int64_t count;
  };
  /// Of a rank's part; of the elements.
  [[nodiscard]] ByteRange bytes_of(int rank, int piece) const {
    const auto width = static_cast<std::int64_t>(element_bytes(program_.type));
    const Part part = part_of(program_.count, rank, program_.ranks);
    const Part own = part_of(part.count, piece, pieces_);
    return {(part.begin + own.begin) * width, own.count * width};
  }
  [[nodiscard]] int rank_at(int distance) const {
    return (program_.rank + distance + program_.ranks) % program_.ranks;
  }
  /// Of a piece that the rank at this distance before `reader` brings.
  [[nodiscard]] StreamFlag* arrived(int reader, int piece, int distance) const {
    return flag(reader, (round_count_ + piece * peers_ + distance - 1) * EngineRounds::lanes);
  }

  int peers_;
  int pieces_;

 private:
  [[nodiscard]] StreamFlag* flag(int rank, int index) const {
    return reinterpret_cast<StreamFlag*>(flags_.of(rank)) + index;
  }
  /// At least one, since a rank alone has none.
  [[nodiscard]] std::size_t flag_bytes() const {
    return static_cast<std::size_t>(std::max(flag_count_, 1)) * sizeof(StreamFlag);
  }
  void watch_each_flag() {
    const auto watch = [this](int writer) {
      for (int lane = 0; lane < EngineRounds::lanes; ++lane)
        watched_.writers[watched_.count++] = static_cast<std::int8_t>(writer);
    };
    // The first round needs no flags.
    watched_.flags = flag(program_.rank, EngineRounds::lanes);
    for (int round = 1; round < round_count_; ++round) watch(rounds_.permitted_by(round));
    for (int i = round_count_ * EngineRounds::lanes; i < flag_count_; i += EngineRounds::lanes)
      watch(rank_at(-((i / EngineRounds::lanes - round_count_) % peers_ + 1)));
  }

  int round_count_;
  int flag_count_;
  PeerBlocks flags_;

 protected:
  EngineRounds rounds_;

 private:
  AllreduceProgram meeting_;
  FlagsToWatch watched_{};
  SideStream watching_;
};

/// A kernel loads the peers' elements of this rank's part.
class TwoShotCopyEngine final : public ByEngines {
 public:
  explicit TwoShotCopyEngine(const AllreduceParts& parts)
      : ByEngines(parts, by_loads, 1, false), combining_(program_) {
    combining_.receivers = 1U << program_.rank;
  }

 private:
  void launch(cudaStream_t stream) override {
    // Its first meeting says that nobody copies from this rank's elements any more; its last one that all ranks have
    // combined theirs. So nobody reads what the copies overwrite.
    kernel_.launch(combining_, stream);
    begin_rounds(stream);
    give(0);
    end_rounds(stream);
  }

  AllreduceProgram combining_;
};

/// Engines bring the peers' elements to slots. Of the part's two pieces the first is combined while the second arrives, and
/// given to all while the second is combined.
class CopyEngine final : public ByEngines {
 public:
  explicit CopyEngine(const AllreduceParts& parts)
      : ByEngines(parts, {.most_blocks = push_blocks, .packs_per_thread = 2}, 2, true),
        slot_bytes_(slot_bytes()),
        slots_(parts.context, parts.executor, all_ranks(parts),
               static_cast<std::size_t>(program_.ranks * slot_bytes_), collective_construction),
        combined_(static_cast<std::size_t>(pieces_)) {
    combine_all_kernel().load(program_);
  }

 private:
  void launch(cudaStream_t stream) override {
    // All ranks' elements are there, and nobody combines what is in slots any more.
    meet(stream);
    begin_rounds(stream);
    combining_.fork(stream);
    for (int piece = 0; piece < pieces_; ++piece) {
      bring(piece);
      combine(piece);
    }
    for (int piece = 0; piece < pieces_; ++piece) {
      rounds_.hold_back(combined_[static_cast<std::size_t>(piece)]);
      give(piece);
    }
    combining_.join(stream);
    end_rounds(stream);
  }

  /// Each peer's part of this rank's elements into a slot of that peer.
  void bring(int piece) {
    for (int i = 0; i < peers_; ++i) {
      const int peer = rounds_.receiver();
      const ByteRange part = bytes_of(peer, piece);
      rounds_.copy({.to = slot(peer, rounds_.distance()) + part.begin - bytes_of(peer, 0).begin,
                    .from = program_.elements[program_.rank] + part.begin,
                    .bytes = part.count,
                    .arrived = arrived(peer, piece, rounds_.distance())});
    }
  }
  /// This rank's part of all ranks' elements. A peer's have left it when they have arrived here, so that results may take
  /// their place there.
  void combine(int piece) {
    const cudaStream_t stream = combining_.get();
    const ByteRange own = bytes_of(program_.rank, piece);
    AllreduceProgram program = program_;
    program.count = own.count / static_cast<std::int64_t>(element_bytes(program.type));
    program.receivers = 1U << program.rank;
    program.elements[program.rank] += own.begin;
    for (int distance = 1; distance <= peers_; ++distance) {
      // Acquires from the peer: its elements of the piece.
      for (int lane = 0; lane < EngineRounds::lanes; ++lane)
        await_flag(arrived(program.rank, piece, distance) + lane, stream);
      program.elements[rank_at(-distance)] =
          slot(program.rank, distance) + own.begin - bytes_of(program.rank, 0).begin;
    }
    combine_all_kernel().launch(program, stream);
    combined_[static_cast<std::size_t>(piece)].record(stream);
  }

  /// Of the rank at this distance before the reader.
  [[nodiscard]] std::byte* slot(int reader, int distance) const {
    return slots_.of(reader) + (distance - 1) * slot_bytes_;
  }
  [[nodiscard]] std::int64_t slot_bytes() const {
    constexpr std::int64_t line = 128;
    const auto width = static_cast<std::int64_t>(element_bytes(program_.type));
    return divided(longest_part(program_.count, program_.ranks) * width + 1, line) * line;
  }

  struct Combined : Event {
    Combined() : Event(cudaEventDisableTiming) {}
  };
  std::int64_t slot_bytes_;
  PeerBlocks slots_;
  std::vector<Combined> combined_;  ///< by piece
  SideStream combining_;
};

}  // namespace

std::unique_ptr<AllreduceRunner> make_two_shot_copy_engine(const AllreduceParts& parts) {
  return std::make_unique<TwoShotCopyEngine>(parts);
}
std::unique_ptr<AllreduceRunner> make_copy_engine(const AllreduceParts& parts) {
  return std::make_unique<CopyEngine>(parts);
}

}  // namespace selvage::detail
