#include "port_plan.hpp"

#include "layouts/layout.hpp"
#include "runtime/cards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

namespace selvage::detail {
namespace {

/// Tells a neighbour where this rank polls.
struct PortCard {
  SharedRange flags;
  std::uint64_t views = 0;
};

std::vector<PortCard> exchange_cards(const PortParts& parts, const PortCard& mine) {
  std::vector<CardFor<PortCard>> cards;
  for (const PeerPlan& peer : parts.peers) cards.push_back({peer.neighbour.rank, mine});
  return swap_cards(parts.context, parts.first_tag, cards, "to set up a HaloPort");
}

/// A table in memory of the kernels.
template <class T>
Buffer upload(Executor& executor, const std::vector<T>& values) {
  const std::size_t bytes = values.size() * sizeof(T);
  Buffer table = executor.allocate(bytes);
  const Buffer staging = executor.runs_on_host() ? table : executor.allocate_staging(bytes);
  std::memcpy(staging.data, values.data(), bytes);
  executor.stage_in(table.data, staging.data, bytes);
  executor.fence();
  return table;
}

/// Where the cells of a direction and View go.
struct Destination {
  std::byte* data;
  Layout layout;
  Region region;  ///< of the cells there
  PortFlags* flags;
};

/// What every element can be read and written in, on both sides.
int common_word_bytes(const Field& field, const Destination& to) {
  std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(field.data) |
                        reinterpret_cast<std::uintptr_t>(to.data) |
                        static_cast<std::uintptr_t>(field.element_bytes);
  for (int axis = 0; axis < field.rank; ++axis)
    bits |= static_cast<std::uintptr_t>(field.strides[axis] | to.layout.strides[axis]);
  constexpr std::uintptr_t widest = 16;
  return 1 << std::countr_zero(bits | widest);
}

PortRegion make_region(const Region& owned, const Field& field, const Destination& to, int grid_axes) {
  std::array<std::int8_t, port_axes> axes{0, 1, 2, 3};
  // Axes of extent 1 first: the innermost loop is the one whose elements lie closest.
  std::ranges::stable_sort(axes, std::ranges::greater(), [&](int axis) {
    return owned.extents[axis] == 1 ? std::numeric_limits<std::int64_t>::max() : field.strides[axis];
  });
  PortRegion region{};
  region.source = field.data;
  region.target = to.data;
  region.remote = to.flags;
  region.grid_axes = static_cast<std::int16_t>(grid_axes);
  for (int i = 0; i < port_axes; ++i) {
    const int axis = axes[i];
    region.begin[i] = owned.begin[axis];
    region.end[i] = owned.begin[axis] + owned.extents[axis];
    region.source_strides[i] = field.strides[axis];
    region.target_strides[i] = to.layout.strides[axis];
    region.target += (to.region.begin[axis] - owned.begin[axis]) * to.layout.strides[axis];
    region.view_axes[i] = axes[i];
    region.sorted_axes[axis] = static_cast<std::int8_t>(i);
  }
  region.word_bytes = static_cast<std::int16_t>(common_word_bytes(field, to));
  region.words = static_cast<std::int32_t>(field.element_bytes / region.word_bytes);
  return region;
}

std::uint64_t cells_of(const Region& region) {
  return static_cast<std::uint64_t>(region.extents[0] * region.extents[1] * region.extents[2]);
}

bool is_mapped(const PortParts& parts, const PeerPlan& peer) {
  return parts.refusals[static_cast<std::size_t>(&peer - parts.peers.data())].empty();
}

/// Where no neighbour maps the flags they need no name.
NamedBuffer allocate_flags(const PortParts& parts) {
  constexpr std::size_t bytes = direction_codes * sizeof(PortFlags);
  const bool named = std::ranges::any_of(parts.peers, [&](const PeerPlan& peer) {
    return peer.neighbour.rank != parts.context.rank() && is_mapped(parts, peer);
  });
  if (named) return allocate_named(parts.context, parts.executor, bytes);
  NamedBuffer flags{parts.executor.allocate_zeroed(bytes + alignof(PortFlags)), {}};
  std::size_t room = bytes + alignof(PortFlags);
  void* aligned = flags.buffer.data;
  flags.buffer.data = static_cast<std::byte*>(std::align(alignof(PortFlags), bytes, aligned, room));
  return flags;
}

void require_as_many_views(const PortParts& parts, const PeerPlan& peer, std::uint64_t views) {
  if (views == parts.chosen.size()) return;
  throw Error(
      ErrorKind::usage,
      fmt::format("ranks make one HaloPort of different numbers of Views: {} on rank {}, {} on rank {}",
                  parts.chosen.size(), parts.context.rank(), views, peer.neighbour.rank));
}

/// Whether who sends awaits a credit for every epoch: nothing that comes back proves that ghosts were read.
bool awaits_credits(const PortParts& parts, bool sender_receives) {
  return parts.ghost_reuse != GhostReuse::alternating || !sender_receives || parts.chosen.size() == 1;
}

}  // namespace

PortPlan::PortPlan(const PortParts& parts)
    : context_(parts.context),
      ends_together_(!parts.executor.runs_on_host() || parts.has_relays),
      flags_(allocate_flags(parts)),
      state_(parts.executor.allocate_zeroed(sizeof(PortState))),
      fault_(parts.executor.allocate_staging(sizeof(Fault))) {
  const std::vector<PortCard> cards = exchange_cards(parts, {flags_.range, parts.chosen.size()});
  Regions regions(parts.chosen.size() * direction_codes);
  Directions directions(direction_codes);
  for (std::size_t i = 0; i < parts.peers.size(); ++i) {
    require_as_many_views(parts, parts.peers[i], cards[i].views);
    add_directions(parts, parts.peers[i], directions);
  }
  make_relay(parts, directions);
  for (std::size_t i = 0; i < parts.peers.size(); ++i) {
    if (parts.refusals[i].empty()) {
      add_mapped(parts, parts.peers[i], cards[i].flags, regions, directions);
    } else {
      add_relayed(parts, parts.peers[i], regions, directions);
    }
  }
  regions_ = upload(parts.executor, regions);
  directions_ = upload(parts.executor, directions);
  port_.regions_ = reinterpret_cast<const PortRegion*>(regions_.data);
  port_.directions_ = reinterpret_cast<PortDirection*>(directions_.data);
  port_.state_ = reinterpret_cast<PortState*>(state_.data);
  port_.fault_ = new (fault_.data) Fault();
  port_.timeout_ns_ = static_cast<std::uint64_t>(std::chrono::nanoseconds(context_.timeout()).count());
  // The proxy's thread needs a core, too.
  port_.yields_ = context_.yields() || relay_ != nullptr;
  port_.guarded_ = std::ranges::any_of(directions, &PortDirection::awaits_credit);
  set_inner(parts.shape);
  if (relay_) relay_->begin();
}

PortPlan::~PortPlan() {
  if (relay_ && acquire_word(port_.fault_->kind) == Fault::none) relay_->drain();
  mappings_.clear();
  // CUDA leaves it undefined to free what a neighbour still maps, and MPI to take back what one still sends to.
  if (ends_together_) context_.try_barrier();
}

std::byte* PortPlan::map(const PortParts& parts, const SharedRange& range) {
  const PeerMappings::Mapped mapped = parts.context.mappings().map(range);
  mappings_.push_back(mapped.owner);
  return mapped.data;
}

/// What doesn't depend on how the cells travel.
void PortPlan::add_directions(const PortParts& parts, const PeerPlan& peer, Directions& directions) {
  auto* own = reinterpret_cast<PortFlags*>(flags_.buffer.data);
  for (const Boundary& boundary : peer.neighbour.boundaries) {
    PortDirection& direction = directions[static_cast<std::size_t>(boundary.direction)];
    direction.own = own + boundary.direction;
    direction.cells = cells_of(boundary.owned);
    direction.rank = peer.neighbour.rank;
    direction.receives = cells_of(boundary.ghost) > 0;
    direction.awaits_credit = awaits_credits(parts, direction.receives);
    port_.present_ |= 1U << boundary.direction;
  }
}

void PortPlan::make_relay(const PortParts& parts, Directions& directions) {
  std::vector<RelayedLink> links;
  for (const PeerPlan& peer : parts.peers) {
    if (is_mapped(parts, peer)) continue;
    for (const Boundary& boundary : peer.neighbour.boundaries) {
      const PortDirection& direction = directions[static_cast<std::size_t>(boundary.direction)];
      RelayedLink& relayed =
          links.emplace_back(RelayedLink{.rank = peer.neighbour.rank,
                                         .boundary = &boundary,
                                         .views = {},
                                         .own = direction.own,
                                         .awaits_credit = direction.awaits_credit,
                                         .gives_credit = awaits_credits(parts, direction.cells > 0)});
      for (const std::size_t field : parts.chosen)
        relayed.views.push_back({&parts.fields[field], peer.cards[field].strides});
    }
  }
  if (links.empty()) return;
  relay_ = std::make_unique<PortRelay>(parts.context, parts.executor, parts.shape.axes, parts.first_tag + 1,
                                       links);
}

void PortPlan::add_mapped(const PortParts& parts, const PeerPlan& peer, const SharedRange& flags,
                          Regions& regions, Directions& directions) {
  const bool is_self = peer.neighbour.rank == context_.rank();
  std::vector<std::byte*> remote_data;
  for (const std::size_t field : parts.chosen)
    remote_data.push_back(is_self ? parts.fields[field].data : map(parts, peer.cards[field].range));
  auto* remote = reinterpret_cast<PortFlags*>(is_self ? flags_.buffer.data : map(parts, flags));
  for (const Boundary& boundary : peer.neighbour.boundaries) {
    PortFlags* const theirs = remote + opposite(boundary.direction);
    directions[static_cast<std::size_t>(boundary.direction)].remote = theirs;
    for (std::size_t view = 0; view < parts.chosen.size(); ++view) {
      const Field& field = parts.fields[parts.chosen[view]];
      const Destination to{.data = remote_data[view],
                           .layout = layout_of(peer.cards[parts.chosen[view]]),
                           .region = in_field(boundary.peer_ghost, field, parts.shape.axes),
                           .flags = theirs};
      regions[view * direction_codes + static_cast<std::size_t>(boundary.direction)] =
          make_region(in_field(boundary.owned, field, parts.shape.axes), field, to, parts.shape.axes);
    }
  }
}

void PortPlan::add_relayed(const PortParts& parts, const PeerPlan& peer, Regions& regions,
                           Directions& directions) {
  for (const Boundary& boundary : peer.neighbour.boundaries) {
    directions[static_cast<std::size_t>(boundary.direction)].remote = relay_->signal(boundary.direction, 0);
    for (std::size_t view = 0; view < parts.chosen.size(); ++view) {
      const Field& field = parts.fields[parts.chosen[view]];
      const Region owned = in_field(boundary.owned, field, parts.shape.axes);
      const Destination to{.data = relay_->block(boundary.direction, view),
                           .layout = packed_like(owned, layout_of(field)),
                           .region = {.begin = {}, .extents = owned.extents},
                           .flags = relay_->signal(boundary.direction, view)};
      regions[view * direction_codes + static_cast<std::size_t>(boundary.direction)] =
          make_region(owned, field, to, parts.shape.axes);
    }
  }
}

void PortPlan::set_inner(const Shape& shape) {
  for (int axis = 0; axis < 3; ++axis) {
    const bool in_grid = axis < shape.axes;
    const Side& side = shape.width[axis];
    port_.inner_begin_[axis] = in_grid ? side.low + side.high : std::numeric_limits<std::int64_t>::min();
    port_.inner_end_[axis] = in_grid ? shape.extents[axis] : std::numeric_limits<std::int64_t>::max();
  }
}

/// What the proxy met, if anything: it explains why a kernel waited in vain.
std::string PortPlan::describe_proxy() const {
  if (!relay_) return {};
  try {
    relay_->check();
  } catch (const Error& error) {
    return fmt::format("; its proxy: {}", error.message());
  }
  return {};
}

void PortPlan::check() const {
  const Fault& fault = *port_.fault_;
  // Acquires what the kernel wrote before it released `kind`.
  const std::uint64_t kind = acquire_word(fault.kind);
  if (kind == Fault::none) {
    if (relay_) relay_->check();
    return;
  }
  if (kind == Fault::surplus) {
    throw Error(ErrorKind::usage,
                fmt::format("a kernel put {} cells for rank {} in one step of a HaloPort: that rank keeps {}",
                            fault.seen, fault.rank, fault.wanted));
  }
  throw Error(
      ErrorKind::timeout,
      fmt::format("a kernel waited {} ms for rank {} (HaloPort, {} epoch {} wanted, {} seen){}",
                  context_.timeout().count(), fault.rank, kind == Fault::credit_late ? "credit" : "arrival",
                  fault.wanted, fault.seen, describe_proxy()));
}

}  // namespace selvage::detail
