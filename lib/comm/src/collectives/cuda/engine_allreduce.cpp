#include "collectives/algorithms/part.hpp"
#include "device_collective.hpp"
#include "gpu/cuda/stream.hpp"

#include <cstddef>
#include <deque>

namespace selvage::detail {
namespace {

/// A kernel combines each rank's part, and copy engines give it to all peers, at the same time. Where engines bring the
/// peers' elements of the part as well, the kernel only works on this GPU's memory, for a fraction of the time.
class ByEngines final : public BetweenElements {
 public:
  ByEngines(const AllreduceParts& parts, const Shape& shape, bool brings_elements)
      : BetweenElements(parts, two_shot_kernel(), shape),
        combining_(program_),
        meeting_(program_),
        brings_elements_(brings_elements),
        streams_(static_cast<std::size_t>(program_.ranks - 1)) {
    const auto width = static_cast<std::int64_t>(element_bytes(program_.type));
    const Part part = part_of(program_.count, program_.rank, program_.ranks);
    part_offset_ = part.begin * width;
    part_bytes_ = part.count * width;
    combining_.receivers = 1U << program_.rank;
    meeting_.blocks = 1;
    meet_kernel().load(meeting_);
    if (brings_elements_) bring_elements(parts.executor);
  }

 private:
  void bring_elements(const Executor& executor) {
    const std::int64_t slot_bytes = divided(part_bytes_, pack_bytes) * pack_bytes;
    slots_ = executor.allocate(static_cast<std::size_t>(slot_bytes * program_.ranks));
    for (int rank = 0; rank < program_.ranks; ++rank) {
      std::byte* const slot = slots_.data + rank * slot_bytes;
      if (rank != program_.rank) combining_.elements[rank] = slot - part_offset_;
    }
  }

  void launch(cudaStream_t stream) override {
    if (brings_elements_) {
      // All ranks' elements are there.
      meet_kernel().launch(meeting_, stream);
      move(stream, [&](int peer) {
        return Move{part_of_rank(combining_, peer), part_of_rank(program_, peer)};
      });
    }
    // Its first meeting says that nobody copies from this rank's elements any more; its last one that all ranks have
    // combined theirs. So nobody reads what the copies overwrite.
    kernel_.launch(combining_, stream);
    move(stream, [&](int peer) {
      return Move{part_of_rank(program_, peer), part_of_rank(program_, program_.rank)};
    });
    // All ranks' copies have arrived.
    meet_kernel().launch(meeting_, stream);
  }

  [[nodiscard]] std::byte* part_of_rank(const AllreduceProgram& program, int rank) const {
    return program.elements[rank] + part_offset_;
  }
  struct Move {
    std::byte* to;
    const std::byte* from;
  };
  /// A copy of the part's size for each peer, beside each other.
  template <class MoveOf>
  void move(cudaStream_t stream, const MoveOf& move_of) const {
    if (part_bytes_ == 0) return;
    for (int i = 1; i < program_.ranks; ++i) {
      const SideStream& side = streams_[static_cast<std::size_t>(i - 1)];
      const Move move = move_of((program_.rank + i) % program_.ranks);
      side.fork(stream);
      check_cuda(cudaMemcpyAsync(move.to, move.from, static_cast<std::size_t>(part_bytes_),
                                 cudaMemcpyDeviceToDevice, side.get()),
                 "cudaMemcpyAsync");
    }
    for (const SideStream& side : streams_) side.join(stream);
  }

  AllreduceProgram combining_;
  AllreduceProgram meeting_;
  bool brings_elements_;
  Buffer slots_;  ///< of the peers' elements of this rank's part
  std::deque<SideStream> streams_;
  std::int64_t part_offset_ = 0;  ///< of this rank's part
  std::int64_t part_bytes_ = 0;
};

}  // namespace

std::unique_ptr<AllreduceRunner> make_engine_allreduce(const AllreduceParts& parts, bool brings_elements) {
  constexpr BetweenElements::Shape local{.most_blocks = push_blocks, .packs_per_thread = 2};
  return std::make_unique<ByEngines>(parts, brings_elements ? local : by_loads, brings_elements);
}

}  // namespace selvage::detail
