#include "port_plan.hpp"

#include "context_state.hpp"
#include "layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <limits>
#include <new>

namespace selvage::detail {
namespace {

/// Tells a neighbour where this rank polls.
struct PortCard {
  SharedRange flags;
  std::uint64_t views = 0;
};

std::vector<PortCard> exchange_cards(const PortParts& parts, const PortCard& mine) {
  std::vector<PortCard> cards(parts.peers.size(), mine);
  ContextState::Messages messages;
  for (std::size_t i = 0; i < cards.size(); ++i) {
    const int rank = parts.peers[i].neighbour.rank;
    if (rank == parts.context.rank()) continue;
    check_mpi(MPI_Irecv(&cards[i], sizeof(PortCard), MPI_BYTE, rank, parts.tag, parts.context.comm(),
                        messages.add(rank)),
              "MPI_Irecv");
    check_mpi(MPI_Isend(&mine, sizeof(PortCard), MPI_BYTE, rank, parts.tag, parts.context.comm(),
                        messages.add(rank)),
              "MPI_Isend");
  }
  parts.context.wait_messages(messages, "to set up a HaloPort");
  return cards;
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

/// What every element can be read and written in, on both sides.
int common_word_bytes(const Field& field, const FieldCard& card, const std::byte* remote) {
  std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(field.data) |
                        reinterpret_cast<std::uintptr_t>(remote) |
                        static_cast<std::uintptr_t>(field.element_bytes);
  for (int axis = 0; axis < field.rank; ++axis)
    bits |= static_cast<std::uintptr_t>(field.strides[axis] | card.strides[axis]);
  constexpr std::uintptr_t widest = 16;
  return 1 << std::countr_zero(bits | widest);
}

PortRegion make_region(const Link& link, const Field& field, const FieldCard& card, std::byte* remote,
                       int grid_axes) {
  const Region owned = in_field(link.owned, field, grid_axes);
  const Region ghost = in_field(link.peer_ghost, field, grid_axes);
  std::array<std::int8_t, port_axes> axes{0, 1, 2, 3};
  // Axes of extent 1 first: the innermost loop is the one whose elements lie closest.
  std::ranges::stable_sort(axes, std::ranges::greater(), [&](int axis) {
    return owned.extents[axis] == 1 ? std::numeric_limits<std::int64_t>::max() : field.strides[axis];
  });
  PortRegion region{};
  region.source = field.data;
  region.target = remote;
  region.grid_axes = static_cast<std::int16_t>(grid_axes);
  for (int i = 0; i < port_axes; ++i) {
    const int axis = axes[i];
    region.begin[i] = owned.begin[axis];
    region.end[i] = owned.begin[axis] + owned.extents[axis];
    region.source_strides[i] = field.strides[axis];
    region.target_strides[i] = card.strides[axis];
    region.target += (ghost.begin[axis] - owned.begin[axis]) * card.strides[axis];
    region.view_axes[i] = axes[i];
    region.sorted_axes[axis] = static_cast<std::int8_t>(i);
  }
  region.word_bytes = static_cast<std::int16_t>(common_word_bytes(field, card, remote));
  region.words = static_cast<std::int32_t>(field.element_bytes / region.word_bytes);
  return region;
}

std::uint64_t cells_of(const Region& region) {
  return static_cast<std::uint64_t>(region.extents[0] * region.extents[1] * region.extents[2]);
}

}  // namespace

PortPlan::PortPlan(const PortParts& parts)
    : context_(parts.context),
      runs_on_host_(parts.executor.runs_on_host()),
      flags_(allocate_named(parts.context, parts.executor, direction_codes * sizeof(PortFlags))),
      state_(parts.executor.allocate_zeroed(sizeof(PortState))),
      fault_(parts.executor.allocate_staging(sizeof(Fault))) {
  const std::vector<PortCard> cards = exchange_cards(parts, {flags_.range, parts.chosen.size()});
  Regions regions(parts.chosen.size() * direction_codes);
  Directions directions(direction_codes);
  for (std::size_t i = 0; i < parts.peers.size(); ++i) {
    const PeerPlan& peer = parts.peers[i];
    if (cards[i].views != parts.chosen.size()) {
      throw Error(
          ErrorKind::usage,
          fmt::format("ranks make one HaloPort of different numbers of Views: {} on rank {}, {} on rank {}",
                      parts.chosen.size(), parts.context.rank(), cards[i].views, peer.neighbour.rank));
    }
    add_peer(parts, peer, map_flags(parts, peer, cards[i].flags), regions, directions);
  }
  regions_ = upload(parts.executor, regions);
  directions_ = upload(parts.executor, directions);
  port_.regions_ = reinterpret_cast<const PortRegion*>(regions_.data);
  port_.directions_ = reinterpret_cast<PortDirection*>(directions_.data);
  port_.state_ = reinterpret_cast<PortState*>(state_.data);
  port_.fault_ = new (fault_.data) Fault();
  port_.timeout_ns_ = static_cast<std::uint64_t>(std::chrono::nanoseconds(context_.timeout()).count());
  port_.yields_ = context_.yields();
  port_.guarded_ = std::ranges::any_of(directions, &PortDirection::awaits_credit);
  set_inner(parts.shape);
}

PortPlan::~PortPlan() {
  mappings_.clear();
  // CUDA leaves it undefined to free what a neighbour still maps.
  if (!runs_on_host_) context_.try_barrier();
}

std::byte* PortPlan::map(const PortParts& parts, const SharedRange& range) {
  const PeerMappings::Mapped mapped = parts.context.mappings().map(range);
  mappings_.push_back(mapped.owner);
  return mapped.data;
}

PortFlags* PortPlan::map_flags(const PortParts& parts, const PeerPlan& peer, const SharedRange& range) {
  const bool is_self = peer.neighbour.rank == context_.rank();
  return reinterpret_cast<PortFlags*>(is_self ? flags_.buffer.data : map(parts, range));
}

void PortPlan::add_peer(const PortParts& parts, const PeerPlan& peer, PortFlags* remote, Regions& regions,
                        Directions& directions) {
  const bool is_self = peer.neighbour.rank == context_.rank();
  std::vector<std::byte*> remote_data;
  for (const std::size_t field : parts.chosen)
    remote_data.push_back(is_self ? parts.fields[field].data : map(parts, peer.cards[field].range));
  auto* own = reinterpret_cast<PortFlags*>(flags_.buffer.data);
  for (const Link& link : peer.neighbour.links) {
    PortDirection& direction = directions[static_cast<std::size_t>(link.direction)];
    direction.remote = remote + opposite(link.direction);
    direction.own = own + link.direction;
    direction.cells = cells_of(link.owned);
    direction.rank = peer.neighbour.rank;
    direction.receives = cells_of(link.ghost) > 0;
    const bool proves_reads = direction.receives && parts.chosen.size() > 1;
    direction.awaits_credit = parts.ghost_reuse != GhostReuse::alternating || !proves_reads;
    port_.present_ |= 1U << link.direction;
    for (std::size_t view = 0; view < parts.chosen.size(); ++view) {
      const std::size_t field = parts.chosen[view];
      regions[view * direction_codes + static_cast<std::size_t>(link.direction)] =
          make_region(link, parts.fields[field], peer.cards[field], remote_data[view], parts.shape.axes);
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

void PortPlan::check() const {
  const Fault& fault = *port_.fault_;
  // Acquires what the kernel wrote before it released `kind`.
  const std::uint64_t kind = acquire_word(fault.kind);
  if (kind == Fault::none) return;
  if (kind == Fault::surplus) {
    throw Error(ErrorKind::usage,
                fmt::format("a kernel put {} cells for rank {} in one step of a HaloPort: that rank keeps {}",
                            fault.seen, fault.rank, fault.wanted));
  }
  throw Error(ErrorKind::timeout,
              fmt::format("a kernel waited {} ms for rank {} (HaloPort, {} epoch {} wanted, {} seen)",
                          context_.timeout().count(), fault.rank,
                          kind == Fault::credit_late ? "credit" : "arrival", fault.wanted, fault.seen));
}

}  // namespace selvage::detail
