#include "gpu/device.hpp"
#include "layouts/prepared_copy.hpp"
#include "proxy/copies/copier.hpp"
#include "runtime/cards.hpp"
#include "runtime/mappable.hpp"
#include "transfer_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>
#include <utility>

namespace selvage::detail {
namespace {

constexpr std::uint64_t slots = 8;
/// The largest number of units that one call of progress() moves in one direction, so that no partner waits until others are done.
constexpr std::uint64_t most_at_once = slots - 1;

/// The flags of one direction of a pair, in host memory that both map. They count units and only grow.
struct UnitRing {
  Flag filled;  ///< released by the sender: so many units are in the ring, or were
  Flag freed;   ///< released by the receiver: so many may be overwritten
};

/// Describes a ring to its sender. The receiver sends it in a message.
struct RingCard {
  SharedRange range = {};
  std::uint64_t unit_bytes = 0;
};

/// One end of one direction: the message is divided into units, each of which has a slot. A message begins with the first slot, so a unit
/// always has the same slot.
class RingEnd {
 public:
  RingEnd(const Executor& executor, const std::vector<TransferPart>& parts, bool is_outgoing)
      : parts_(parts), is_outgoing_(is_outgoing), on_host_(executor.runs_on_host()) {
    for (const TransferPart& part : parts_) bytes_ += part.bytes;
  }

  void connect(const Executor& executor, std::byte* ring, std::uint64_t unit_bytes, Copier* copier) {
    ring_ = reinterpret_cast<UnitRing*>(ring);
    unit_bytes_ = unit_bytes;
    units_ = (static_cast<std::uint64_t>(bytes_) + unit_bytes - 1) / unit_bytes;
    copier_ = copier;
    if (!on_host_) packed_ = executor.allocate(bytes_);
    if (on_host_) {
      for (std::uint64_t unit = 0; unit < units_; ++unit)
        copies_.push_back(make_run_copy(executor, runs_of(unit * unit_bytes, unit_end(unit), slot(unit))));
    } else {
      copies_.push_back(make_run_copy(executor, runs_of(0, bytes_, packed_.data)));
    }
  }

  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

  /// On a GPU it packs the whole message.
  void start(const Step& step) {
    next_ = 0;
    is_over_ = units_ == 0;
    has_ticket_ = false;
    if (!on_host_ && is_outgoing_ && units_ > 0) copies_.front()->enqueue(step.executor);
  }

  /// Moves the units that have free slots, or that have arrived. \return whether nothing is left to do
  bool progress(const Step& step) {
    if (is_over_) return true;
    for (std::uint64_t moved = 0; moved < most_at_once && next_ < units_ && is_open(step.epoch); ++moved)
      move(step);
    if (next_ < units_) return false;
    if (copier_ != nullptr && !is_copied()) return false;
    if (!on_host_ && !is_outgoing_) copies_.front()->enqueue(step.executor);
    return is_over_ = true;
  }

  [[nodiscard]] std::string describe_late(const Step& step, int rank) const {
    if (is_over_) return {};
    return fmt::format("rank {} (ring, {} of epoch {} wanted, {} of {} units seen)", rank,
                       is_outgoing_ ? "room" : "elements", step.epoch, next_, units_);
  }

 private:
  [[nodiscard]] std::uint64_t before(std::uint64_t epoch) const { return (epoch - 1) * units_; }
  [[nodiscard]] std::uint64_t unit_end(std::uint64_t unit) const {
    return std::min((unit + 1) * unit_bytes_, static_cast<std::uint64_t>(bytes_));
  }
  [[nodiscard]] std::byte* slot(std::uint64_t unit) const {
    return reinterpret_cast<std::byte*>(ring_ + 1) + unit % slots * unit_bytes_;
  }
  /// Copies between the parts and [begin, end) of the message, which lies at `packed`.
  [[nodiscard]] std::vector<CopyRun> runs_of(std::int64_t begin, std::int64_t end,
                                             const std::byte* packed) const {
    std::vector<CopyRun> placed;
    std::int64_t part_begin = 0;
    for (const TransferPart& part : parts_) {
      const std::int64_t from = std::clamp<std::int64_t>(begin - part_begin, 0, part.bytes);
      const std::int64_t to = std::clamp<std::int64_t>(end - part_begin, 0, part.bytes);
      const std::vector<CopyRun> runs = cut_packed(part.layout.runs, from, to);
      const std::byte* at = packed + (part_begin + from - begin);
      if (is_outgoing_) {
        append_placed(placed, runs, part.memory.data, at);
      } else {
        append_placed(placed, reversed(runs), at, part.memory.data);
      }
      part_begin += part.bytes;
    }
    return placed;
  }

  [[nodiscard]] bool is_open(std::uint64_t epoch) const {
    if (is_outgoing_) {
      // Acquires that the receiver has read what the unit overwrites.
      const std::uint64_t needed = next_ < slots ? 0 : next_ - slots + 1;
      return has_reached(acquire_epoch(ring_->freed), before(epoch) + needed);
    }
    // Acquires the unit.
    return has_reached(acquire_epoch(ring_->filled), before(epoch) + next_ + 1);
  }

  /// The flag publishes the unit to the receiver, or its slot to the sender. On a GPU the stream writes it after the copy, which nobody waits
  /// for here.
  void move(const Step& step) {
    Flag& flag = is_outgoing_ ? ring_->filled : ring_->freed;
    const std::uint64_t count = before(step.epoch) + next_ + 1;
    if (on_host_) {
      copies_[next_]->enqueue(step.executor);
      release_epoch(flag, count);
    } else {
      const std::uint64_t begin = next_ * unit_bytes_;
      std::byte* const packed = packed_.data + begin;
      copier_->copy(is_outgoing_ ? slot(next_) : packed, is_outgoing_ ? packed : slot(next_),
                    unit_end(next_) - begin);
      copier_->release(flag.epoch, count);
    }
    ++next_;
  }
  [[nodiscard]] bool is_copied() {
    if (!has_ticket_) ticket_ = copier_->mark();
    has_ticket_ = true;
    return copier_->has_done(ticket_);
  }

  std::vector<TransferPart> parts_;
  bool is_outgoing_;
  bool on_host_;
  std::int64_t bytes_ = 0;
  UnitRing* ring_ = nullptr;
  std::uint64_t unit_bytes_ = 0;
  std::uint64_t units_ = 0;
  Copier* copier_ = nullptr;                           ///< of a device: what moves units
  Buffer packed_;                                      ///< of a device
  std::vector<std::unique_ptr<PreparedCopy>> copies_;  ///< by unit; of a device one for all
  std::uint64_t next_ = 0;                             ///< unit
  std::uint64_t ticket_ = 0;
  bool has_ticket_ = false;
  bool is_over_ = true;
};

class RingTransfer final : public Link {
 public:
  explicit RingTransfer(const TransferParts& parts)
      : on_host_(parts.executor.runs_on_host()), timeout_(parts.context.timeout()) {
    if (!on_host_) {
      outward_ = make_device_copier();
      inward_ = make_device_copier(CopyLane::inward);
    }
    for (const Partner& partner : parts.partners) {
      peers_.push_back({.rank = partner.rank,
                        .out = RingEnd(parts.executor, partner.sends, true),
                        .in = RingEnd(parts.executor, partner.receives, false)});
    }
    connect(parts);
  }

  /// Memory that a GPU still copies is never freed.
  ~RingTransfer() override {
    const bool has_sent = retire(std::move(outward_), timeout_);
    const bool has_received = retire(std::move(inward_), timeout_);
    if (!has_sent || !has_received) static_cast<void>(new std::vector<Peer>(std::move(peers_)));
  }

  void start(const Step& step) override {
    // The previous transfer's kernels may still unpack.
    if (!on_host_) step.executor.fence();
    for (Peer& peer : peers_) {
      peer.out.start(step);
      peer.in.start(step);
    }
    // The copiers read what was packed, and are not ordered with the instance.
    if (!on_host_) step.executor.fence();
    for (Peer& peer : peers_) peer.out.progress(step);
  }

  bool progress(const Step& step) override {
    bool done = true;
    for (Peer& peer : peers_) {
      done = peer.out.progress(step) && done;
      done = peer.in.progress(step) && done;
    }
    return done;
  }

  [[nodiscard]] std::string describe_late(const Step& step) const override {
    std::string late;
    for (const Peer& peer : peers_) {
      for (const RingEnd* end : {&peer.out, &peer.in}) {
        const std::string some = end->describe_late(step, peer.rank);
        if (!some.empty()) late += (late.empty() ? "" : ", ") + some;
      }
    }
    return late;
  }

 private:
  struct Peer {
    int rank;
    std::vector<std::shared_ptr<void>> owners = {};  ///< of both rings, before the ends that use them
    RingEnd out;
    RingEnd in;
  };

  /// Receivers own the rings; senders map them.
  void connect(const TransferParts& parts) {
    ContextState& context = parts.context;
    std::vector<CardFor<RingCard>> mine;
    for (std::size_t i = 0; i < peers_.size(); ++i)
      mine.push_back({peers_[i].rank, make_ring(parts, parts.partners[i], peers_[i])});
    const auto theirs = swap_cards(context, parts.tag, mine, "to make its ring of a TypedTransfer");
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      Peer& peer = peers_[i];
      if (peer.out.bytes() == 0) continue;
      PeerMappings::Mapped ring = context.mappings().map(theirs[i].range);
      keep(peer, ring.data, theirs[i].unit_bytes, std::move(ring.owner));
      peer.out.connect(parts.executor, ring.data, theirs[i].unit_bytes, outward_.get());
    }
  }

  [[nodiscard]] RingCard make_ring(const TransferParts& parts, const Partner& partner, Peer& peer) const {
    if (peer.in.bytes() == 0) return {};
    RingCard card{.unit_bytes = parts.ring_unit_bytes};
    if (card.unit_bytes == 0) card.unit_bytes = tuned_unit(partner);
    std::byte* const data = parts.context.arena().allocate(ring_bytes(card.unit_bytes));
    keep(peer, data, card.unit_bytes,
         std::shared_ptr<void>(data,
                               [&arena = parts.context.arena()](void* block) { arena.deallocate(block); }));
    peer.in.connect(parts.executor, data, card.unit_bytes, inward_.get());
    const auto name = parts.context.name_memory(data, ring_bytes(card.unit_bytes), MemoryKind::host);
    if (!name) throw Error(ErrorKind::io, "a ring's memory has no name");
    card.range = *name;
    return card;
  }
  /// The sizes of the paper: long units for the bus, short ones for caches (Ji et al., V-A).
  [[nodiscard]] static std::uint64_t tuned_unit(const Partner& partner) {
    bool on_device = false;
    for (const TransferPart& part : partner.receives) on_device |= part.memory.memory == MemoryKind::device;
    for (const PartCard& card : partner.their_sends) on_device |= card.kind == MemoryKind::device;
    return on_device ? std::uint64_t{256} << 10 : std::uint64_t{32} << 10;
  }
  [[nodiscard]] static std::size_t ring_bytes(std::uint64_t unit_bytes) {
    return sizeof(UnitRing) + slots * unit_bytes;
  }
  void keep(Peer& peer, std::byte* data, std::uint64_t unit_bytes, std::shared_ptr<void> owner) const {
    peer.owners.push_back(std::move(owner));
    if (!on_host_) peer.owners.push_back(page_lock(data, ring_bytes(unit_bytes)));
  }

  bool on_host_;
  std::chrono::milliseconds timeout_;
  std::vector<Peer> peers_;
  std::unique_ptr<Copier> outward_;  ///< of a device; end before the rings
  std::unique_ptr<Copier> inward_;
};

}  // namespace

std::string refuse_ring(const PairFacts& facts) {
  return facts.same_host ? facts.host_mapping_refusal : "the rank is on another host";
}

std::unique_ptr<Link> make_ring_transfer(const TransferParts& parts) {
  return std::make_unique<RingTransfer>(parts);
}

}  // namespace selvage::detail
