#include "peer.hpp"

#include "device_peer.hpp"
#include "halo_messages.hpp"
#include "peer_link.hpp"
#include "proxy/proxy.hpp"
#include "runtime/context_state.hpp"
#include "runtime/kokkos_runtime.hpp"

#include <fmt/format.h>

namespace selvage::detail {
namespace {

/// One neighbour, and the progress of this epoch's exchange with it.
struct Peer {
  PeerLink link;
  bool sent = true;
  bool landed = true;
};

class PeerTransport final : public Link {
 public:
  explicit PeerTransport(const TransportParts& parts)
      : initiation_(parts.initiation),
        mailbox_(parts, landing_bytes(parts)),
        bounce_(parts.executor.allocate(bounce_bytes_on_host)) {
    const RouteRules rules{.direct_run_bytes = direct_run_bytes_on_host, .bounce = bounce_.data};
    for (PeerLink& link : connect(parts, mailbox_, rules)) peers_.push_back({std::move(link)});
  }

  void start(const Step& step) override {
    if (initiation_ == Initiation::host) step.executor.fence();
    for (Peer& peer : peers_) {
      peer.sent = !peer.link.sends(step.reverse);
      peer.landed = !peer.link.receives(step.reverse);
      // Publishes to the peer: this rank is past its last read of what the peer will overwrite.
      if (peer.link.gives_credit(step.reverse, step.guarded))
        release_epoch(peer.link.remote_flags->credit, step.epoch);
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
        if (!step.reverse) unpack(step, peer.link.routes);
        peer.landed = true;
      }
      done = done && peer.sent && peer.landed;
    }
    return done;
  }

  void append_contributions(std::size_t field, std::vector<Contribution>& contributions) const override {
    for (const Peer& peer : peers_) {
      contributions.insert(contributions.end(), peer.link.contributions[field].begin(),
                           peer.link.contributions[field].end());
    }
  }

  [[nodiscard]] std::string describe_late(const Step& step) const override {
    std::string late;
    const auto add = [&](int rank, std::string_view flag, std::uint64_t seen) {
      late += fmt::format("{}rank {} (peer transport, {} epoch {} wanted, {} seen)", late.empty() ? "" : ", ",
                          rank, flag, step.epoch, seen);
    };
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      if (!peers_[i].sent) add(peers_[i].link.rank, "credit", acquire_epoch(mailbox_.flags(i).credit));
      if (!peers_[i].landed) add(peers_[i].link.rank, "arrival", acquire_epoch(mailbox_.flags(i).arrived));
    }
    return late;
  }

 private:
  /// Handles one field at a time, because the bounce block holds one.
  static void put(const Step& step, const Routes& routes) {
    const auto& puts = routes.puts[step.epoch % 2];
    for (std::size_t field = 0; field < puts.size(); ++field) {
      if (!step.has(field)) continue;
      step.executor.copy(routes.packs[field]);
      step.executor.copy(puts[field]);
    }
  }
  static void unpack(const Step& step, const Routes& routes) {
    const auto& unpacks = routes.unpacks[step.epoch % 2];
    for (std::size_t field = 0; field < unpacks.size(); ++field) {
      if (!step.has(field)) continue;
      step.executor.copy(routes.fetches[step.epoch % 2][field]);
      step.executor.copy(unpacks[field]);
    }
  }
  static void put_contributions(const Step& step, const PeerLink& link) {
    for (std::size_t field = 0; field < link.reverse_puts.size(); ++field) {
      if (step.has(field)) step.executor.copy(link.reverse_puts[field]);
    }
  }

  void require_same_operation(std::size_t index, const Step& step) const {
    const Operation theirs = mailbox_.flags(index).operations[step.epoch % 2];
    const Operation mine = operation_of(step.fields, step.reverse);
    if (theirs == mine) return;
    throw Error(ErrorKind::usage, describe_mismatch(peers_[index].link.rank, step.epoch, theirs, mine));
  }

  void try_put(std::size_t index, const Step& step) {
    Peer& peer = peers_[index];
    if (peer.sent) return;
    // Acquires that the peer no longer reads what this put overwrites.
    const bool free = !peer.link.awaits_credit(step.reverse, step.guarded) ||
                      has_reached(acquire_epoch(mailbox_.flags(index).credit), step.epoch);
    if (!free) return;
    const ProfilingRegion region("comm::put");
    if (step.reverse) {
      put_contributions(step, peer.link);
    } else {
      put(step, peer.link.routes);
    }
    peer.link.remote_flags->operations[step.epoch % 2] = operation_of(step.fields, step.reverse);
    // Publishes to the peer: the cells just stored into its memory, and which operation they belong to.
    release_epoch(peer.link.remote_flags->arrived, step.epoch);
    peer.sent = true;
  }

  Initiation initiation_;
  Mailbox mailbox_;
  Buffer bounce_;
  std::vector<Peer> peers_;
};

}  // namespace

std::string refuse_peer(const PairFacts& facts) {
  if (!facts.same_host) return "the rank is on another host";
  if (facts.device_memory && facts.host_memory) return "some Views are in host memory, some in GPU memory";
  if (!facts.mapping_refusal.empty()) return facts.mapping_refusal;
  return facts.unshared_field;
}

std::string refuse_peer_initiation(Initiation initiation, const PairFacts& facts, bool on_host) {
  return initiation == Initiation::queue ? Proxy::refusal(facts.threads_refusal, on_host) : "";
}

std::unique_ptr<Link> make_peer_transport(TransportParts parts) {
  // A kernel that can store into its neighbours' memory needs no proxy.
  if (parts.initiation == Initiation::queue) return make_halo_messages(parts, Wire::mapped);
  if (!parts.executor.runs_on_host()) return make_device_peer_transport(std::move(parts));
  return std::make_unique<PeerTransport>(parts);
}

}  // namespace selvage::detail
