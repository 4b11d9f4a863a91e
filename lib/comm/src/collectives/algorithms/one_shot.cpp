#include "one_shot.hpp"

#include "device_allreduce.hpp"
#include "fold.hpp"
#include "stepwise.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace selvage::detail {
namespace {

class HostOneShot final : public Stepwise {
 public:
  HostOneShot(const AllreduceParts& parts, std::int64_t slot_elements)
      : Stepwise(
            parts, all_ranks(parts),
            {.memory_bytes = 2 * static_cast<std::size_t>(slot_elements) * element_bytes(parts.elements.type),
             .elements = parts.elements.count,
             .segment_elements = slot_elements,
             .stages = 2,
             .lead = 2,
             .waits_at_end = false}),
        slot_bytes_(static_cast<std::size_t>(slot_elements) * width()),
        shown_(static_cast<std::size_t>(size())) {}

 private:
  bool make(std::uint64_t stage, const Segment& segment) override {
    const std::size_t slot = segment.number % 2 * slot_bytes_;
    if (stage == 0) {
      std::memcpy(memory(place()) + slot, element(segment.begin),
                  static_cast<std::size_t>(segment.count) * width());
      return true;
    }
    for (int r = 0; r < size(); ++r) shown_[static_cast<std::size_t>(r)] = memory(r) + slot;
    const std::array<std::byte*, 1> result{element(segment.begin)};
    fold(parts().elements.type, parts().operation, shown_, result, segment.count);
    return true;
  }

  std::size_t slot_bytes_;
  std::vector<const std::byte*> shown_;
};

}  // namespace

std::unique_ptr<AllreduceRunner> make_one_shot(const AllreduceParts& parts) {
  if (!parts.executor.runs_on_host()) return make_device_allreduce(AllreduceAlgorithm::one_shot, parts);
  constexpr std::int64_t most_slot_bytes = 256 * 1024;
  const auto most = most_slot_bytes / static_cast<std::int64_t>(element_bytes(parts.elements.type));
  return std::make_unique<HostOneShot>(parts, std::clamp<std::int64_t>(parts.elements.count, 1, most));
}

}  // namespace selvage::detail
