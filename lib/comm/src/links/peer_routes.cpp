#include "peer_routes.hpp"

#include <algorithm>

namespace selvage::detail {
namespace {

const Boundary& boundary_along(const Neighbour& neighbour, Direction direction) {
  return *std::ranges::find(neighbour.boundaries, direction, &Boundary::direction);
}

/// The number of bytes that are contiguous on both sides.
CopyBox block_copy(const std::byte* source, std::byte* target, const Packing::Slot& slot,
                   std::int64_t element_bytes) {
  const Region row{.begin = {}, .extents = {1, 1, 1, slot.region.elements()}};
  const Layout layout{.strides = {0, 0, 0, element_bytes}, .element_bytes = element_bytes};
  return view_to_view(source, layout, row, target, layout, row, BoxUse::combine);
}

bool bounces(const RouteRules& rules, const Packing& packing, std::size_t field) {
  return rules.bounce != nullptr && packing.field_bytes(field) <= bounce_bytes_on_host;
}

/// Makes the routes of one plan, field by field.
class RouteMaker {
 public:
  RouteMaker(const TransportParts& parts, const PeerPlan& plan, const PeerMemory& remote,
             const OwnMemory& own, const RouteRules& rules)
      : parts_(parts), plan_(plan), remote_(remote), own_(own), rules_(rules) {}

  Routes make() {
    for (std::size_t f = 0; f < parts_.fields.size(); ++f) {
      routes_.packs.emplace_back();
      for (int parity = 0; parity < 2; ++parity) {
        add_puts(f, parity);
        add_unpacks(f, parity);
      }
    }
    return std::move(routes_);
  }

 private:
  /// Both ranks of a pair call this for the same region and layouts, and so get the same answer.
  [[nodiscard]] bool goes_directly(const Packing::Slot& slot, const Layout& source,
                                   const Layout& target) const {
    const Region whole{.begin = {}, .extents = slot.region.extents};
    const CopyBox box = view_to_view(nullptr, source, whole, nullptr, target, whole, BoxUse::combine);
    const std::int64_t run_bytes =
        box.rows_are_contiguous() ? box.extents[3] * box.element_bytes : box.element_bytes;
    const bool is_large = box.elements() * box.element_bytes > rules_.scattered_bytes;
    return run_bytes >= (is_large ? sector_bytes : rules_.direct_run_bytes) || box.elements() == 1;
  }

  void add_puts(std::size_t f, int parity) {
    const Field& field = parts_.fields[f];
    const Layout here = layout_of(field);
    const Layout there = layout_of(plan_.cards[f]);
    std::vector<CopyBox>& puts = routes_.puts[parity].emplace_back();
    for (const auto& slot : owned_.slots(f)) {
      std::byte* landing = remote_.ghosts_blocks[parity] + slot.offset_bytes;
      if (goes_directly(slot, here, there)) {
        const Region target =
            in_field(boundary_along(plan_.neighbour, slot.direction).peer_ghost, field, parts_.axes);
        puts.push_back(
            view_to_view(field.data, here, slot.region, remote_.fields[f], there, target, BoxUse::move));
        routes_.puts_directly = true;
      } else if (bounces(rules_, owned_, f)) {
        std::byte* bounce = rules_.bounce + slot.offset_bytes - owned_.field_begin(f);
        if (parity == 0)
          routes_.packs[f].push_back(view_to_buffer(field.data, here, slot.region, bounce, here));
        puts.push_back(block_copy(bounce, landing, slot, field.element_bytes));
      } else {
        puts.push_back(view_to_buffer(field.data, here, slot.region, landing, here));
      }
    }
  }

  void add_unpacks(std::size_t f, int parity) {
    const Field& field = parts_.fields[f];
    const Layout here = layout_of(field);
    const Layout there = layout_of(plan_.cards[f]);
    std::vector<CopyBox>& fetches = routes_.fetches[parity].emplace_back();
    std::vector<CopyBox>& unpacks = routes_.unpacks[parity].emplace_back();
    for (const auto& slot : ghost_.slots(f)) {
      if (goes_directly(slot, there, here)) {
        routes_.receives_directly = true;
        continue;
      }
      const std::byte* landed = own_.ghosts_blocks[parity] + slot.offset_bytes;
      if (bounces(rules_, ghost_, f)) {
        std::byte* bounce = rules_.bounce + slot.offset_bytes - ghost_.field_begin(f);
        fetches.push_back(block_copy(landed, bounce, slot, field.element_bytes));
        landed = bounce;
      }
      unpacks.push_back(buffer_to_view(landed, there, field.data, here, slot.region, BoxUse::move));
    }
  }

  const TransportParts& parts_;
  const PeerPlan& plan_;
  const PeerMemory& remote_;
  const OwnMemory& own_;
  const RouteRules& rules_;
  Packing owned_{plan_.neighbour, parts_.fields, parts_.axes, BoundarySide::owned};
  Packing ghost_{plan_.neighbour, parts_.fields, parts_.axes, BoundarySide::ghost};
  Routes routes_;
};

}  // namespace

Routes make_routes(const TransportParts& parts, const PeerPlan& plan, const PeerMemory& remote,
                   const OwnMemory& own, const RouteRules& rules) {
  return RouteMaker(parts, plan, remote, own, rules).make();
}

}  // namespace selvage::detail
