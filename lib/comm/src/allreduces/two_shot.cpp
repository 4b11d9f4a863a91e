#include "two_shot.hpp"

#include "../device_allreduce.hpp"
#include "fold.hpp"
#include "stepwise.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace selvage::detail {
namespace {

/// Between Views that all ranks map.
class DirectTwoShot final : public Stepwise {
 public:
  DirectTwoShot(const AllreduceParts& parts, PeerBlocks views)
      : Stepwise(parts, all_ranks(parts),
                 {.memory_bytes = 0,
                  .segment_elements = std::max<std::int64_t>(1, parts.elements.count),
                  .stages = 2,
                  .lead = 0,
                  .waits_at_end = true}),
        views_(std::move(views)),
        inputs_(static_cast<std::size_t>(size())),
        outputs_(static_cast<std::size_t>(size())) {}

 private:
  /// The first stage only says that this rank's View may be read and written.
  bool make(std::uint64_t stage, const Segment& segment) override {
    if (stage == 0) return true;
    const Part part = part_of(segment.count, place(), size(), width());
    const std::int64_t offset = part.begin * static_cast<std::int64_t>(width());
    for (int r = 0; r < size(); ++r) {
      outputs_[static_cast<std::size_t>(r)] = views_.of(r) + offset;
      inputs_[static_cast<std::size_t>(r)] = views_.of(r) + offset;
    }
    fold(parts().elements.type, parts().operation, inputs_, outputs_, part.count);
    return true;
  }

  PeerBlocks views_;
  std::vector<const std::byte*> inputs_;
  std::vector<std::byte*> outputs_;
};

/// Through slots: show, combine one's part in one's own slot, take the parts of all.
class SlottedTwoShot final : public Stepwise {
 public:
  SlottedTwoShot(const AllreduceParts& parts, std::int64_t slot_elements)
      : Stepwise(
            parts, all_ranks(parts),
            {.memory_bytes = 2 * static_cast<std::size_t>(slot_elements) * element_bytes(parts.elements.type),
             .segment_elements = slot_elements,
             .stages = 3,
             .lead = 3,
             .waits_at_end = false}),
        slot_bytes_(static_cast<std::size_t>(slot_elements) * width()),
        inputs_(static_cast<std::size_t>(size())) {}

 private:
  bool make(std::uint64_t stage, const Segment& segment) override {
    const std::size_t slot = segment.number % 2 * slot_bytes_;
    if (stage == 0) {
      std::memcpy(memory(place()) + slot, element(segment.begin), bytes(segment.count));
    } else if (stage == 1) {
      combine_part(slot, segment);
    } else {
      for (int r = 0; r < size(); ++r) {
        const Part part = part_of(segment.count, r, size(), width());
        std::memcpy(element(segment.begin + part.begin), memory(r) + slot + bytes(part.begin),
                    bytes(part.count));
      }
    }
    return true;
  }

  void combine_part(std::size_t slot, const Segment& segment) {
    const Part part = part_of(segment.count, place(), size(), width());
    const std::size_t offset = slot + bytes(part.begin);
    for (int r = 0; r < size(); ++r) inputs_[static_cast<std::size_t>(r)] = memory(r) + offset;
    const std::array<std::byte*, 1> result{memory(place()) + offset};
    fold(parts().elements.type, parts().operation, inputs_, result, part.count);
  }
  [[nodiscard]] std::size_t bytes(std::int64_t count) const {
    return static_cast<std::size_t>(count) * width();
  }

  std::size_t slot_bytes_;
  std::vector<const std::byte*> inputs_;
};

}  // namespace

std::unique_ptr<AllreduceRunner> make_two_shot(const AllreduceParts& parts) {
  if (!parts.executor.runs_on_host()) return make_device_two_shot(parts);
  const auto width = static_cast<std::int64_t>(element_bytes(parts.elements.type));
  PeerBlocks views(parts.context, parts.elements.data, all_ranks(parts),
                   static_cast<std::size_t>(parts.elements.count * width), parts.elements.memory,
                   "the construction of an Allreduce");
  if (!views.empty()) return std::make_unique<DirectTwoShot>(parts, std::move(views));
  constexpr std::int64_t most_slot_bytes = 256 * 1024;
  return std::make_unique<SlottedTwoShot>(
      parts, std::clamp<std::int64_t>(parts.elements.count, 1, most_slot_bytes / width));
}

}  // namespace selvage::detail
