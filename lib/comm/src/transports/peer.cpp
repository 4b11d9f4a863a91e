#include "peer.hpp"

#include "../context_state.hpp"
#include "../signal.hpp"

#include <Kokkos_Core.hpp>
#include <fmt/format.h>

namespace selvage::detail {
namespace {

/// The two flags of one directed pair. They lie in the memory of the rank that polls them; its peer writes
/// them.
struct Flags {
  /// Released by the peer after its stores: what it puts for this epoch is in this rank's memory.
  Flag arrived;
  /// Released by the peer when it no longer reads what this rank put before: this epoch's put may begin.
  Flag credit;
};

/// Tells a peer where this rank's flags and landing block for it are.
struct MailboxCard {
  SharedRange range;
  std::uint64_t landing_offset = 0;
};

/// Everything of this rank that peers write to, except the fields: flags, then a landing block per peer, in
/// which contributions wait to be folded in.
class Mailbox {
 public:
  Mailbox(Arena& arena, const std::vector<std::int64_t>& landing_bytes) : arena_(arena) {
    std::size_t bytes = landing_bytes.size() * sizeof(Flags);
    for (const std::int64_t landing : landing_bytes) {
      landings_.push_back(bytes);
      bytes += (static_cast<std::size_t>(landing) + alignof(Flags) - 1) / alignof(Flags) * alignof(Flags);
    }
    data_ = arena_.allocate(bytes);
    bytes_ = bytes;
  }
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  ~Mailbox() { arena_.deallocate(data_); }

  [[nodiscard]] const Flags& flags(std::size_t peer) const {
    return reinterpret_cast<const Flags*>(data_)[peer];
  }
  [[nodiscard]] const std::byte* landing(std::size_t peer) const { return data_ + landings_[peer]; }
  [[nodiscard]] MailboxCard card(std::size_t peer) const {
    MailboxCard card{.range = *arena_.find(data_, bytes_), .landing_offset = landings_[peer]};
    card.range.offset += peer * sizeof(Flags);
    card.landing_offset -= peer * sizeof(Flags);
    return card;
  }

 private:
  Arena& arena_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::vector<std::size_t> landings_;
};

/// One neighbour.
struct Peer {
  int rank = 0;
  bool owned_bytes = false;  ///< it keeps ghosts of this rank's cells
  bool ghost_bytes = false;  ///< this rank keeps ghosts of its cells
  bool forward_credit = true;
  std::vector<std::vector<CopyBox>> puts;          ///< by field: owned cells to its ghosts
  std::vector<std::vector<CopyBox>> reverse_puts;  ///< by field: ghosts to its landing block
  std::vector<std::vector<Contribution>> contributions;
  Flags* remote_flags = nullptr;
  std::vector<std::shared_ptr<Mapping>> mappings;
  bool sent = true;
  bool landed = true;

  [[nodiscard]] bool sends(bool reverse) const { return reverse ? ghost_bytes : owned_bytes; }
  [[nodiscard]] bool receives(bool reverse) const { return reverse ? owned_bytes : ghost_bytes; }
  [[nodiscard]] bool uses_credit(const Step& step) const { return step.guarded || forward_credit; }
};

class PeerTransport final : public HaloTransport {
 public:
  explicit PeerTransport(const TransportParts& parts)
      : initiation_(parts.initiation), mailbox_(parts.context.arena(), landing_bytes(parts)) {
    const std::vector<MailboxCard> cards = exchange_cards(parts);
    for (std::size_t i = 0; i < parts.peers.size(); ++i) {
      peers_.push_back(make_peer(parts, parts.peers[i], cards[i], mailbox_.landing(i)));
    }
  }

  void start(const Step& step) override {
    if (initiation_ == Initiation::host) step.executor.fence();
    for (Peer& peer : peers_) {
      peer.sent = !peer.sends(step.reverse);
      peer.landed = !peer.receives(step.reverse);
      // Publishes to the peer: this rank is past its last read of what the peer will overwrite.
      if (!peer.landed && peer.uses_credit(step)) release_epoch(peer.remote_flags->credit, step.epoch);
    }
    for (std::size_t i = 0; i < peers_.size(); ++i) try_put(i, step);
  }

  bool progress(const Step& step) override {
    bool done = true;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      try_put(i, step);
      Peer& peer = peers_[i];
      // Acquires what the peer put: its stores to this rank's ghosts or landing block.
      if (!peer.landed) peer.landed = has_reached(acquire_epoch(mailbox_.flags(i).arrived), step.epoch);
      done = done && peer.sent && peer.landed;
    }
    return done;
  }

  void append_contributions(std::size_t field, std::vector<Contribution>& contributions) const override {
    for (const Peer& peer : peers_) {
      contributions.insert(contributions.end(), peer.contributions[field].begin(),
                           peer.contributions[field].end());
    }
  }

  [[nodiscard]] std::string describe_late(const Step& step) const override {
    std::string late;
    const auto add = [&](int rank, std::string_view flag, std::uint64_t seen) {
      late += fmt::format("{}rank {} (peer transport, {} epoch {} wanted, {} seen)", late.empty() ? "" : ", ",
                          rank, flag, step.epoch, seen);
    };
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      if (!peers_[i].sent) add(peers_[i].rank, "credit", acquire_epoch(mailbox_.flags(i).credit));
      if (!peers_[i].landed) add(peers_[i].rank, "arrival", acquire_epoch(mailbox_.flags(i).arrived));
    }
    return late;
  }

 private:
  static std::vector<std::int64_t> landing_bytes(const TransportParts& parts) {
    std::vector<std::int64_t> bytes;
    for (const PeerPlan& peer : parts.peers) {
      bytes.push_back(Packing(peer.neighbour, parts.fields, parts.axes, Half::owned).bytes());
    }
    return bytes;
  }

  [[nodiscard]] std::vector<MailboxCard> exchange_cards(const TransportParts& parts) const {
    std::vector<MailboxCard> sent(parts.peers.size());
    std::vector<MailboxCard> received(parts.peers.size());
    std::vector<MPI_Request> requests;
    for (std::size_t i = 0; i < parts.peers.size(); ++i) {
      const int rank = parts.peers[i].neighbour.rank;
      sent[i] = mailbox_.card(i);
      check_mpi(MPI_Irecv(&received[i], sizeof(MailboxCard), MPI_BYTE, rank, parts.first_tag,
                          parts.context.comm(), &requests.emplace_back()),
                "MPI_Irecv");
      check_mpi(MPI_Isend(&sent[i], sizeof(MailboxCard), MPI_BYTE, rank, parts.first_tag,
                          parts.context.comm(), &requests.emplace_back()),
                "MPI_Isend");
    }
    parts.context.wait_all(requests, [] { return "the neighbours to set up peer transport"; });
    return received;
  }

  static Peer make_peer(const TransportParts& parts, const PeerPlan& plan, const MailboxCard& card,
                        const std::byte* landing) {
    const Packing owned(plan.neighbour, parts.fields, parts.axes, Half::owned);
    const Packing ghost(plan.neighbour, parts.fields, parts.axes, Half::ghost);
    Peer peer;
    peer.rank = plan.neighbour.rank;
    peer.owned_bytes = owned.bytes() > 0;
    peer.ghost_bytes = ghost.bytes() > 0;
    const bool both_ways = peer.owned_bytes && peer.ghost_bytes;
    peer.forward_credit = !(parts.ghost_reuse == GhostReuse::alternating && both_ways);
    const PeerMappings::Mapped mailbox = parts.context.mappings().map(card.range);
    peer.remote_flags = reinterpret_cast<Flags*>(mailbox.data);
    peer.mappings.push_back(mailbox.owner);
    for (std::size_t f = 0; f < parts.fields.size(); ++f) {
      peer.puts.push_back(map_and_put(peer, parts, plan, f));
      peer.reverse_puts.push_back(pack_boxes(ghost, f, parts.fields[f], mailbox.data + card.landing_offset));
      peer.contributions.push_back(contributions_of(owned, f, parts.fields[f], landing));
    }
    return peer;
  }

  static std::vector<CopyBox> map_and_put(Peer& peer, const TransportParts& parts, const PeerPlan& plan,
                                          std::size_t index) {
    const Field& field = parts.fields[index];
    const FieldCard& card = plan.cards[index];
    const PeerMappings::Mapped target = parts.context.mappings().map(card.range);
    peer.mappings.push_back(target.owner);
    const Layout here{.strides = field.strides, .element_bytes = field.element_bytes};
    const Layout there{.strides = card.strides, .element_bytes = card.element_bytes};
    std::vector<CopyBox> puts;
    for (const Link& link : plan.neighbour.links) {
      const Region from = in_field(link.owned, field, parts.axes);
      if (from.elements() == 0) continue;
      const Region to = in_field(link.peer_ghost, field, parts.axes);
      puts.push_back(view_to_view(field.data, here, from, target.data, there, to, BoxUse::move));
    }
    return puts;
  }

  void try_put(std::size_t index, const Step& step) {
    Peer& peer = peers_[index];
    if (peer.sent) return;
    if (peer.uses_credit(step) && !has_reached(acquire_epoch(mailbox_.flags(index).credit), step.epoch))
      return;
    Kokkos::Profiling::pushRegion("comm::put");
    const auto& copies = step.reverse ? peer.reverse_puts : peer.puts;
    for (std::size_t field = 0; field < copies.size(); ++field) {
      if (step.has(field)) step.executor.copy(copies[field]);
    }
    // Publishes to the peer: the cells just stored into its memory.
    release_epoch(peer.remote_flags->arrived, step.epoch);
    peer.sent = true;
    Kokkos::Profiling::popRegion();
  }

  Initiation initiation_;
  Mailbox mailbox_;
  std::vector<Peer> peers_;
};

}  // namespace

std::string refuse_peer(const PairFacts& facts) {
  if (!facts.same_host) return "the rank is on another host";
  if (facts.device_memory) return "peer access to GPU memory is not built in";
  if (!facts.mapping_refusal.empty()) return facts.mapping_refusal;
  return facts.unshared_field;
}

std::unique_ptr<HaloTransport> make_peer_transport(TransportParts parts) {
  return std::make_unique<PeerTransport>(parts);
}

}  // namespace selvage::detail
