#include "landing.hpp"
#include "links/mailbox.hpp"
#include "list_path.hpp"
#include "runtime/cards.hpp"
#include "runtime/kokkos_runtime.hpp"

#include <selvage/comm/detail/signal.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace selvage::detail {
namespace {

/// Of one link, in the memory of the rank that polls; the other rank writes all of it.
struct ListFlags {
  /// Released after the header and the particles of this epoch were stored.
  Flag arrived;
  /// Released after `landing` was, with the number of blocks that there have been.
  Flag grown;
  /// By parity of the epoch: the writer may be one epoch ahead, not two.
  alignas(128) std::array<ListHeader, 2> headers{};
  alignas(128) LandingCard landing;
  alignas(128) ListFailure failure;
};

class PeerLists final : public ListPath {
 public:
  PeerLists(ContextState& context, int tag) : context_(context), tag_(tag) {}

  void connect(std::span<ListLink* const> links, Executor& executor) override;
  void start(const ListStep& step) override {
    for (Peer& peer : peers_) {
      peer.has_put = peer.has_landed = !step.includes(*peer.link);
      if (!peer.has_put) make_room(peer, step);
    }
  }
  bool put(const ListStep& step) override {
    bool done = true;
    for (Peer& peer : peers_) {
      if (!peer.has_put) try_put(peer, step);
      done = done && peer.has_put;
    }
    return done;
  }
  bool progress(const ListStep& step) override;
  void fail(const ListStep& step) override;
  [[nodiscard]] std::string describe_late(const ListStep& step) const override;

 private:
  struct Landing {
    NamedBuffer memory;
    std::int64_t block_bytes = 0;
    std::uint64_t number = 0;
    [[nodiscard]] std::byte* block(std::uint64_t epoch) const {
      return memory.buffer.data + static_cast<std::int64_t>(epoch % 2) * block_bytes;
    }
  };
  struct RemoteLanding {
    PeerMappings::Mapped memory;
    std::int64_t block_bytes = 0;
    std::uint64_t number = 0;
    [[nodiscard]] std::byte* block(std::uint64_t epoch) const {
      return memory.data + static_cast<std::int64_t>(epoch % 2) * block_bytes;
    }
  };
  struct Peer {
    ListLink* link = nullptr;
    const ListFlags* own = nullptr;
    ListFlags* remote = nullptr;
    Landing landing;               ///< for what it puts
    RemoteLanding remote_landing;  ///< for what this rank puts
    bool has_put = true;
    bool has_landed = true;
  };

  void make_room(Peer& peer, const ListStep& step);
  void try_put(Peer& peer, const ListStep& step);
  [[nodiscard]] bool has_room(Peer& peer, std::int64_t bytes);
  void release(Peer& peer, const ListStep& step, const ListHeader& header);
  [[nodiscard]] bool has_arrived(const Peer& peer, const ListStep& step) const {
    // Acquires the other rank's header, and its stores to this rank's landing block.
    return has_reached(acquire_epoch(peer.own->arrived), step.epoch);
  }
  [[nodiscard]] static const ListHeader& arrived_header(const Peer& peer, const ListStep& step) {
    return peer.own->headers[step.epoch % 2];
  }

  ContextState& context_;
  int tag_;
  std::vector<Peer> peers_;
  std::vector<Buffer> flags_;
  std::vector<std::shared_ptr<void>> mappings_;
};

void PeerLists::connect(std::span<ListLink* const> links, Executor& executor) {
  if (links.empty()) return;
  const NamedBuffer flags = allocate_named(context_, executor, links.size() * sizeof(ListFlags));
  flags_.push_back(flags.buffer);
  std::vector<CardFor<SharedRange>> cards;
  for (std::size_t i = 0; i < links.size(); ++i) {
    cards.push_back({links[i]->rank, flags.range});
    cards[i].card.offset += i * sizeof(ListFlags);
  }
  const auto theirs = swap_cards(context_, tag_, cards, "to connect its lists");
  for (std::size_t i = 0; i < links.size(); ++i) {
    PeerMappings::Mapped mapped = context_.mappings().map(theirs[i]);
    Peer& peer = peers_.emplace_back();
    peer.link = links[i];
    peer.own = reinterpret_cast<const ListFlags*>(flags.buffer.data) + i;
    peer.remote = reinterpret_cast<ListFlags*>(mapped.data);
    mappings_.push_back(std::move(mapped.owner));
  }
}

/// Both ranks know from their lists and fields that the block is too small, so the other rank no longer writes to the old one.
void PeerLists::make_room(Peer& peer, const ListStep& step) {
  const std::int64_t bytes = step.bytes(step.received(*peer.link));
  Landing& landing = peer.landing;
  if (bytes <= landing.block_bytes) return;
  landing.block_bytes = grown_landing_bytes(bytes, landing.block_bytes);
  landing.memory = allocate_named(context_, step.executor, 2 * landing.block_bytes);
  ++landing.number;
  peer.remote->landing = {landing.memory.range, landing.block_bytes};
  // Publishes to the other rank: where its puts go from this epoch on.
  release_epoch(peer.remote->grown, landing.number);
}

bool PeerLists::has_room(Peer& peer, std::int64_t bytes) {
  RemoteLanding& landing = peer.remote_landing;
  if (bytes <= landing.block_bytes) return true;
  // Acquires the card of the block that the other rank has made for this epoch.
  if (!has_reached(acquire_epoch(peer.own->grown), landing.number + 1)) return false;
  landing.memory = context_.mappings().map(peer.own->landing.range);
  landing.block_bytes = peer.own->landing.block_bytes;
  ++landing.number;
  return bytes <= landing.block_bytes;
}

void PeerLists::try_put(Peer& peer, const ListStep& step) {
  const ListRange& range = step.sent(*peer.link);
  const std::int64_t bytes = step.bytes(range);
  // In this order, because a rank grows its block before it puts.
  const bool other_has_put = has_arrived(peer, step);
  if (!has_room(peer, bytes)) {
    if (!other_has_put) return;
    // The rank has put without growing its block, so it calls another operation: both ranks must find out.
    release(peer, step, step.header(*peer.link));
    step.require_same(*peer.link, arrived_header(peer, step), peer.own->failure);
    peer.has_put = true;
    return;
  }
  if (bytes > 0) {
    const ProfilingRegion region("comm::put");
    const std::array parts{ListPart{peer.remote_landing.block(step.epoch), range.first, range.count}};
    step.mover->pack(parts);
  }
  release(peer, step, step.header(*peer.link));
  peer.has_put = true;
}

void PeerLists::release(Peer& peer, const ListStep& step, const ListHeader& header) {
  peer.remote->headers[step.epoch % 2] = header;
  // Publishes to the other rank: the header, the particles in its landing block, and that this rank is done with the
  // epoch before, landing block and all.
  release_epoch(peer.remote->arrived, step.epoch);
}

bool PeerLists::progress(const ListStep& step) {
  bool done = true;
  for (Peer& peer : peers_) {
    if (!peer.has_landed && has_arrived(peer, step)) {
      const ListHeader& header = arrived_header(peer, step);
      step.require_same(*peer.link, header, peer.own->failure);
      peer.has_landed = true;
      const ListRange range =
          step.moves_particles() ? step.received(*peer.link) : ListRange{0, header.entries};
      if (range.count > 0 || !step.moves_particles())
        step.arrivals->push_back({peer.link, {peer.landing.block(step.epoch), range.first, range.count}});
    }
    done = done && peer.has_landed;
  }
  return done;
}

void PeerLists::fail(const ListStep& step) {
  for (Peer& peer : peers_) {
    ListFailure& failure = peer.remote->failure;
    failure.kind = static_cast<std::int32_t>(step.failure->kind());
    step.failure->message().copy(failure.text.data(), failure.text.size() - 1);
    release(peer, step, {.operation = ListOperation::failure});
  }
}

std::string PeerLists::describe_late(const ListStep& step) const {
  std::string late;
  const auto add = [&](int rank, std::string_view flag, std::uint64_t wanted, std::uint64_t seen) {
    late += fmt::format("{}rank {} (peer, {} {} wanted, {} seen)", late.empty() ? "" : ", ", rank, flag,
                        wanted, seen);
  };
  for (const Peer& peer : peers_) {
    if (!peer.has_put) {
      add(peer.link->rank, "landing block", peer.remote_landing.number + 1, acquire_epoch(peer.own->grown));
    } else if (!peer.has_landed) {
      add(peer.link->rank, "arrival epoch", step.epoch, acquire_epoch(peer.own->arrived));
    }
  }
  return late;
}

}  // namespace

std::unique_ptr<ListPath> make_peer_lists(ContextState& context, int tag) {
  return std::make_unique<PeerLists>(context, tag);
}

}  // namespace selvage::detail
