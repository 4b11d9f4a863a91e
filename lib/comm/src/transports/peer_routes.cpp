#include "peer_routes.hpp"

#include <algorithm>

namespace selvage::detail {
namespace {

Layout layout_of(const Field& field) {
  return {.strides = field.strides, .element_bytes = field.element_bytes};
}
Layout layout_of(const FieldCard& card) {
  return {.strides = card.strides, .element_bytes = card.element_bytes};
}

/// Both ranks ask this of the same region with the same layouts, and so agree.
bool goes_directly(const Region& region, const Layout& source, const Layout& target,
                   std::int64_t least_run_bytes) {
  const Region whole{.begin = {}, .extents = region.extents};
  const CopyBox box = view_to_view(nullptr, source, whole, nullptr, target, whole, BoxUse::combine);
  const std::int64_t run_bytes =
      box.rows_are_contiguous() ? box.extents[3] * box.element_bytes : box.element_bytes;
  return run_bytes >= least_run_bytes || box.elements() == 1;
}

const Link& link_along(const Neighbour& neighbour, Direction direction) {
  return *std::ranges::find(neighbour.links, direction, &Link::direction);
}

}  // namespace

Routes make_routes(const TransportParts& parts, const PeerPlan& plan, const PeerMemory& remote,
                   const std::array<const std::byte*, 2>& own_blocks) {
  const Packing owned(plan.neighbour, parts.fields, parts.axes, Half::owned);
  const Packing ghost(plan.neighbour, parts.fields, parts.axes, Half::ghost);
  const std::int64_t least_run_bytes =
      parts.executor.runs_on_host() ? direct_run_bytes_on_host : direct_run_bytes_on_device;
  Routes routes;
  for (int parity = 0; parity < 2; ++parity) {
    for (std::size_t f = 0; f < parts.fields.size(); ++f) {
      const Field& field = parts.fields[f];
      const Layout here = layout_of(field);
      const Layout there = layout_of(plan.cards[f]);
      std::vector<CopyBox>& puts = routes.puts[parity].emplace_back();
      for (const auto& slot : owned.slots(f)) {
        if (goes_directly(slot.region, here, there, least_run_bytes)) {
          const Region target =
              in_field(link_along(plan.neighbour, slot.direction).peer_ghost, field, parts.axes);
          puts.push_back(
              view_to_view(field.data, here, slot.region, remote.fields[f], there, target, BoxUse::move));
          routes.puts_directly = true;
        } else {
          puts.push_back(view_to_buffer(field.data, here, slot.region,
                                        remote.ghosts_blocks[parity] + slot.offset_bytes));
        }
      }
      std::vector<CopyBox>& unpacks = routes.unpacks[parity].emplace_back();
      for (const auto& slot : ghost.slots(f)) {
        if (goes_directly(slot.region, there, here, least_run_bytes)) {
          routes.receives_directly = true;
        } else {
          unpacks.push_back(buffer_to_view(own_blocks[parity] + slot.offset_bytes, field.data, here,
                                           slot.region, BoxUse::move));
        }
      }
    }
  }
  return routes;
}

}  // namespace selvage::detail
