#include "peer.hpp"

#include "../context_state.hpp"
#include "mailbox.hpp"
#include "peer_routes.hpp"

#include <Kokkos_Core.hpp>
#include <fmt/format.h>

namespace selvage::detail {
namespace {

/// One neighbour.
struct Peer {
  int rank = 0;
  bool owned_bytes = false;  ///< it keeps ghosts of this rank's cells
  bool ghost_bytes = false;  ///< this rank keeps ghosts of its cells
  bool alternating = false;
  Routes routes;
  std::vector<std::vector<CopyBox>> reverse_puts;  ///< by field: ghosts to the landing block at their owner
  std::vector<std::vector<Contribution>> contributions;
  Flags* remote_flags = nullptr;
  std::vector<std::shared_ptr<Mapping>> mappings;
  bool sent = true;
  bool landed = true;

  [[nodiscard]] bool sends(bool reverse) const { return reverse ? ghost_bytes : owned_bytes; }
  [[nodiscard]] bool receives(bool reverse) const { return reverse ? owned_bytes : ghost_bytes; }
  /// Whether this rank's put waits for the peer's credit.
  [[nodiscard]] bool awaits_credit(const Step& step) const {
    return needs_credit(step, routes.puts_directly);
  }
  /// Whether the peer's put waits for this rank's credit; what the peer's awaits_credit says.
  [[nodiscard]] bool gives_credit(const Step& step) const {
    return needs_credit(step, routes.receives_directly);
  }

 private:
  /// A landing block for ghosts is free again after two epochs of traffic both ways: the peer's next put
  /// shows that it has finished the epoch before, so the block of that parity is unpacked. See peer.hpp for
  /// the ghosts themselves.
  [[nodiscard]] bool needs_credit(const Step& step, bool direct) const {
    if (step.reverse || !owned_bytes || !ghost_bytes) return true;
    return direct && (step.guarded || !alternating);
  }
};

class PeerTransport final : public HaloTransport {
 public:
  explicit PeerTransport(const TransportParts& parts)
      : initiation_(parts.initiation), mailbox_(parts.context.arena(), landing_bytes(parts)) {
    const std::vector<MailboxCard> cards = exchange_cards(parts);
    for (std::size_t i = 0; i < parts.peers.size(); ++i) {
      peers_.push_back(make_peer(parts, i, cards[i]));
    }
  }

  void start(const Step& step) override {
    if (initiation_ == Initiation::host) step.executor.fence();
    for (Peer& peer : peers_) {
      peer.sent = !peer.sends(step.reverse);
      peer.landed = !peer.receives(step.reverse);
      // Publishes to the peer: this rank is past its last read of what the peer will overwrite.
      if (!peer.landed && peer.gives_credit(step)) release_epoch(peer.remote_flags->credit, step.epoch);
    }
    for (std::size_t i = 0; i < peers_.size(); ++i) try_put(i, step);
  }

  bool progress(const Step& step) override {
    bool done = true;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      try_put(i, step);
      Peer& peer = peers_[i];
      // Acquires what the peer put: its stores to this rank's ghosts or landing block.
      if (!peer.landed && has_reached(acquire_epoch(mailbox_.flags(i).arrived), step.epoch)) {
        require_same_operation(i, step);
        if (!step.reverse) copy_fields(step, peer.routes.unpacks[step.epoch % 2]);
        peer.landed = true;
      }
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
  static std::vector<LandingBytes> landing_bytes(const TransportParts& parts) {
    std::vector<LandingBytes> bytes;
    for (const PeerPlan& peer : parts.peers) {
      bytes.push_back(
          {.ghosts = Packing(peer.neighbour, parts.fields, parts.axes, Half::ghost).bytes(),
           .contributions = Packing(peer.neighbour, parts.fields, parts.axes, Half::owned).bytes()});
    }
    return bytes;
  }

  [[nodiscard]] std::vector<MailboxCard> exchange_cards(const TransportParts& parts) const {
    std::vector<MailboxCard> sent(parts.peers.size());
    std::vector<MailboxCard> received(parts.peers.size());
    ContextState::Messages messages;
    for (std::size_t i = 0; i < parts.peers.size(); ++i) {
      const int rank = parts.peers[i].neighbour.rank;
      sent[i] = mailbox_.card(i);
      check_mpi(MPI_Irecv(&received[i], sizeof(MailboxCard), MPI_BYTE, rank, parts.first_tag,
                          parts.context.comm(), messages.add(rank)),
                "MPI_Irecv");
      check_mpi(MPI_Isend(&sent[i], sizeof(MailboxCard), MPI_BYTE, rank, parts.first_tag,
                          parts.context.comm(), messages.add(rank)),
                "MPI_Isend");
    }
    parts.context.wait_messages(messages, "to set up peer transport");
    return received;
  }

  [[nodiscard]] Peer make_peer(const TransportParts& parts, std::size_t index,
                               const MailboxCard& card) const {
    const PeerPlan& plan = parts.peers[index];
    const Packing owned(plan.neighbour, parts.fields, parts.axes, Half::owned);
    const Packing ghost(plan.neighbour, parts.fields, parts.axes, Half::ghost);
    Peer peer;
    peer.rank = plan.neighbour.rank;
    peer.owned_bytes = owned.bytes() > 0;
    peer.ghost_bytes = ghost.bytes() > 0;
    peer.alternating = parts.ghost_reuse == GhostReuse::alternating;
    std::byte* mailbox = map(peer, parts, card.range);
    peer.remote_flags = reinterpret_cast<Flags*>(mailbox + card.flags_offset);
    PeerMemory remote{.fields = {},
                      .ghosts_blocks = {mailbox + card.ghosts_offsets[0], mailbox + card.ghosts_offsets[1]}};
    for (std::size_t f = 0; f < parts.fields.size(); ++f) {
      remote.fields.push_back(map(peer, parts, plan.cards[f].range));
      peer.reverse_puts.push_back(pack_boxes(ghost, f, parts.fields[f], mailbox + card.contributions_offset));
      peer.contributions.push_back(
          contributions_of(owned, f, parts.fields[f], mailbox_.contributions(index)));
    }
    peer.routes = make_routes(parts, plan, remote, {mailbox_.ghosts(index, 0), mailbox_.ghosts(index, 1)});
    return peer;
  }

  static std::byte* map(Peer& peer, const TransportParts& parts, const SharedRange& range) {
    const PeerMappings::Mapped mapped = parts.context.mappings().map(range);
    peer.mappings.push_back(mapped.owner);
    return mapped.data;
  }

  static void copy_fields(const Step& step, const std::vector<std::vector<CopyBox>>& boxes) {
    for (std::size_t field = 0; field < boxes.size(); ++field) {
      if (step.has(field)) step.executor.copy(boxes[field]);
    }
  }

  static Operation operation_of(const Step& step) { return {step.fields, step.reverse ? 1U : 0U}; }

  void require_same_operation(std::size_t index, const Step& step) const {
    const Operation theirs = mailbox_.flags(index).operations[step.epoch % 2];
    const Operation mine = operation_of(step);
    if (theirs == mine) return;
    const auto describe = [](const Operation& operation) {
      return fmt::format("{} Views {:#x} (bit set)", operation.reverse != 0 ? "reduces" : "exchanges",
                         operation.fields);
    };
    throw Error(ErrorKind::usage,
                fmt::format("ranks call one HaloExchange differently: in epoch {} rank {} {}, this rank {}",
                            step.epoch, peers_[index].rank, describe(theirs), describe(mine)));
  }

  void try_put(std::size_t index, const Step& step) {
    Peer& peer = peers_[index];
    if (peer.sent) return;
    // Acquires that the peer no longer reads what this put overwrites.
    const bool free =
        !peer.awaits_credit(step) || has_reached(acquire_epoch(mailbox_.flags(index).credit), step.epoch);
    if (!free) return;
    Kokkos::Profiling::pushRegion("comm::put");
    copy_fields(step, step.reverse ? peer.reverse_puts : peer.routes.puts[step.epoch % 2]);
    peer.remote_flags->operations[step.epoch % 2] = operation_of(step);
    // Publishes to the peer: the cells just stored into its memory, and which operation they belong to.
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
