#include "two_shot.hpp"

#include "device_allreduce.hpp"
#include "fold.hpp"
#include "stepwise.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace selvage::detail {
namespace {

/// For Views that all ranks map.
class DirectTwoShot final : public Stepwise {
 public:
  DirectTwoShot(const AllreduceParts& parts, PeerBlocks views)
      : Stepwise(parts, all_ranks(parts),
                 {.memory_bytes = 0,
                  .elements = 1,
                  .segment_elements = 1,
                  .stages = 2,
                  .lead = 0,
                  .waits_at_end = true}),
        views_(std::move(views)),
        part_(part_of(parts.elements.count, place(), size())) {
    const std::int64_t offset = part_.begin * static_cast<std::int64_t>(width());
    for (int rank = 0; rank < size(); ++rank) {
      std::byte* const theirs = views_.of(rank) + offset;
      if (parts.flow.takes(place(), rank)) inputs_.push_back(theirs);
      if (parts.flow.gives(place(), rank)) outputs_.push_back(theirs);
    }
  }

 private:
  /// The first stage only publishes that this rank's View may be read and written.
  bool make(std::uint64_t stage, const Segment& /*segment*/) override {
    if (stage == 0) return true;
    if (parts().flow.combines()) {
      fold(parts().elements.type, parts().operation, inputs_, outputs_, part_.count);
    } else {
      const auto bytes = static_cast<std::size_t>(part_.count) * width();
      for (std::byte* output : outputs_) {
        if (output != inputs_.front()) std::memcpy(output, inputs_.front(), bytes);
      }
    }
    return true;
  }

  PeerBlocks views_;
  Part part_;
  std::vector<const std::byte*> inputs_;
  std::vector<std::byte*> outputs_;
};

/// By slots: each rank publishes the elements that others combine, combines its own part, and reads the results of the others. A segment has
/// one slice of each rank's part; the slices are contiguous in a slot. A rank combines its own elements in place.
class SlottedTwoShot final : public Stepwise {
 public:
  SlottedTwoShot(const AllreduceParts& parts, std::int64_t slice_elements)
      : Stepwise(parts, all_ranks(parts),
                 {.memory_bytes = 2 * static_cast<std::size_t>(parts.context.size() * slice_elements) *
                                  element_bytes(parts.elements.type),
                  .elements = longest_part(parts.elements.count, parts.context.size()),
                  .segment_elements = slice_elements,
                  .stages = 3,
                  .lead = 3,
                  .waits_at_end = false}),
        slice_bytes_(static_cast<std::size_t>(slice_elements) * width()) {
    for (int rank = 0; rank < size(); ++rank)
      gives_to_others_ = gives_to_others_ || (rank != place() && flow().gives(place(), rank));
  }

 private:
  bool make(std::uint64_t stage, const Segment& segment) override {
    if (stage == 1) {
      combine(segment);
      return true;
    }
    for (int worker = 0; worker < size(); ++worker) {
      if (worker == place() && flow().combines()) continue;
      const Part slice = slice_of(parts().elements.count, worker, size(), segment.begin, segment.count);
      const std::size_t bytes = static_cast<std::size_t>(slice.count) * width();
      if (stage == 0 && flow().takes(worker, place())) {
        std::memcpy(slot(place(), worker, segment), element(slice.begin), bytes);
      } else if (stage == 2 && flow().gives(worker, place())) {
        const int from = flow().combines() ? worker : flow().source(worker);
        if (from != place()) std::memcpy(element(slice.begin), slot(from, worker, segment), bytes);
      }
    }
    return true;
  }

  /// Parts that are not combined are read from the slot in which they were published.
  void combine(const Segment& segment) {
    if (!flow().combines()) return;
    const Part slice = slice_of(parts().elements.count, place(), size(), segment.begin, segment.count);
    std::byte* const own = element(slice.begin);
    inputs_.clear();
    outputs_.clear();
    for (int rank = 0; rank < size(); ++rank)
      inputs_.push_back(rank == place() ? own : slot(rank, place(), segment));
    if (flow().gives(place(), place())) outputs_.push_back(own);
    if (gives_to_others_) outputs_.push_back(slot(place(), place(), segment));
    fold(parts().elements.type, parts().operation, inputs_, outputs_, slice.count);
  }
  [[nodiscard]] const Flow& flow() const { return parts().flow; }
  /// The address of a rank's slice of a worker's part.
  [[nodiscard]] std::byte* slot(int rank, int worker, const Segment& segment) const {
    const auto place =
        segment.number % 2 * static_cast<std::size_t>(size()) + static_cast<std::size_t>(worker);
    return memory(rank) + place * slice_bytes_;
  }

  std::size_t slice_bytes_;
  bool gives_to_others_ = false;
  std::vector<const std::byte*> inputs_;
  std::vector<std::byte*> outputs_;
};

}  // namespace

std::unique_ptr<AllreduceRunner> make_two_shot(const AllreduceParts& parts) {
  if (!parts.executor.runs_on_host()) return make_device_allreduce(AllreduceAlgorithm::two_shot, parts);
  const auto width = static_cast<std::int64_t>(element_bytes(parts.elements.type));
  PeerBlocks views(parts.context, parts.elements.data, all_ranks(parts),
                   static_cast<std::size_t>(parts.elements.count * width), parts.elements.memory,
                   "the construction of a collective");
  if (!views.empty()) return std::make_unique<DirectTwoShot>(parts, std::move(views));
  // Shorter segments need more waits; longer ones don't fit the second-level cache.
  constexpr std::int64_t most_slot_bytes = 512 * 1024;
  const int ranks = parts.context.size();
  return std::make_unique<SlottedTwoShot>(
      parts, std::clamp<std::int64_t>(longest_part(parts.elements.count, ranks), 1,
                                      std::max<std::int64_t>(1, most_slot_bytes / width / ranks)));
}

}  // namespace selvage::detail
