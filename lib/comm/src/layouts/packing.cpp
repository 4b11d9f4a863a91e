#include "packing.hpp"

#include <algorithm>

namespace selvage::detail {
namespace {

std::vector<Boundary> in_block_order(const Neighbour& neighbour, BoundarySide side) {
  std::vector<Boundary> boundaries = neighbour.boundaries;
  // The owner of a ghost sees it in the opposite direction, so its ascending order is this rank's descending
  // one.
  if (side == BoundarySide::ghost) std::ranges::reverse(boundaries);
  return boundaries;
}

}  // namespace

Packing::Packing(const Neighbour& neighbour, std::span<const Field> fields, int axes, BoundarySide side)
    : rank_(neighbour.rank) {
  const std::vector<Boundary> boundaries = in_block_order(neighbour, side);
  std::int64_t offset = 0;
  for (const Field& field : fields) {
    std::vector<Slot>& slots = slots_.emplace_back();
    for (const Boundary& boundary : boundaries) {
      const Region region =
          in_field(side == BoundarySide::owned ? boundary.owned : boundary.ghost, field, axes);
      if (region.elements() == 0) continue;
      slots.push_back({boundary.direction, region, offset});
      offset += region.elements() * field.element_bytes;
    }
    payload_bytes_ += offset - begins_.back();
    offset = (offset + field_alignment - 1) / field_alignment * field_alignment;
    begins_.push_back(offset);
  }
}

std::vector<CopyBox> pack_boxes(const Packing& packing, std::size_t index, const Field& field,
                                std::byte* block, const Layout& owners) {
  std::vector<CopyBox> boxes;
  for (const auto& slot : packing.slots(index)) {
    boxes.push_back(
        view_to_buffer(field.data, layout_of(field), slot.region, block + slot.offset_bytes, owners));
  }
  return boxes;
}

std::vector<CopyBox> unpack_boxes(const Packing& packing, std::size_t index, const Field& field,
                                  const std::byte* block, const Layout& owners) {
  std::vector<CopyBox> boxes;
  for (const auto& slot : packing.slots(index)) {
    boxes.push_back(buffer_to_view(block + slot.offset_bytes, owners, field.data, layout_of(field),
                                   slot.region, BoxUse::move));
  }
  return boxes;
}

std::vector<Contribution> contributions_of(const Packing& owned, std::size_t index, const Field& field,
                                           const std::byte* block) {
  std::vector<Contribution> contributions;
  const Layout layout = layout_of(field);
  for (const auto& slot : owned.slots(index)) {
    contributions.push_back({slot.direction, owned.rank(),
                             buffer_to_view(block + slot.offset_bytes, layout, field.data, layout,
                                            slot.region, BoxUse::combine)});
  }
  return contributions;
}

}  // namespace selvage::detail
