#include "device_transfer.hpp"
#include "layouts/prepared_copy.hpp"
#include "runtime/context_state.hpp"
#include "runtime/kokkos_runtime.hpp"
#include "transfer_parts.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace selvage::detail {

PeerPut make_peer_put(ContextState& context, const Partner& partner) {
  PeerPut put{.rank = partner.rank,
              .sends = !partner.sends.empty(),
              .receives = !partner.receives.empty(),
              .own_flags = partner.own_flags,
              .remote_flags = nullptr,
              .placed = {},
              .mappings = {}};
  const auto map = [&](const SharedRange& range) {
    PeerMappings::Mapped mapped = context.mappings().map(range);
    put.mappings.push_back(std::move(mapped.owner));
    return mapped.data;
  };
  put.remote_flags = reinterpret_cast<Flags*>(map(partner.remote_flags));
  for (std::size_t i = 0; i < partner.sends.size(); ++i) {
    const TransferPart& mine = partner.sends[i];
    const PartCard& theirs = partner.their_receives[i];
    if (mine.bytes == 0) continue;
    const PeerMappings::Mapped layout = context.mappings().map(theirs.layout);
    const std::span<const CopyRun> target{reinterpret_cast<const CopyRun*>(layout.data), theirs.runs};
    append_placed(put.placed, intersect(mine.layout.runs, target), mine.memory.data, map(theirs.memory));
  }
  return put;
}

namespace {

class PeerTransfer final : public Link {
 public:
  explicit PeerTransfer(const TransferParts& parts) {
    for (const Partner& partner : parts.partners) {
      PeerPut put = make_peer_put(parts.context, partner);
      auto copy = make_run_copy(parts.executor, std::exchange(put.placed, {}));
      peers_.push_back({std::move(put), std::move(copy)});
    }
  }

  void start(const Step& step) override {
    for (Peer& peer : peers_) {
      peer.sent = !peer.put.sends;
      peer.landed = !peer.put.receives;
      // Publishes to the partner: this rank is past its last read of what the partner will overwrite.
      if (peer.put.receives) release_epoch(peer.put.remote_flags->credit, step.epoch);
    }
    for (Peer& peer : peers_) try_put(peer, step);
  }

  bool progress(const Step& step) override {
    bool done = true;
    for (Peer& peer : peers_) {
      try_put(peer, step);
      // Acquires what the partner put: its stores to this rank's elements.
      if (!peer.landed) peer.landed = has_reached(acquire_epoch(peer.put.own_flags->arrived), step.epoch);
      done = done && peer.sent && peer.landed;
    }
    return done;
  }

  void unmap() noexcept override {
    for (Peer& peer : peers_) peer.put.mappings.clear();
  }

  [[nodiscard]] std::string describe_late(const Step& step) const override {
    std::string late;
    const auto add = [&](int rank, std::string_view flag, std::uint64_t seen) {
      late += fmt::format("{}rank {} (peer, {} epoch {} wanted, {} seen)", late.empty() ? "" : ", ", rank,
                          flag, step.epoch, seen);
    };
    for (const Peer& peer : peers_) {
      if (!peer.sent) add(peer.put.rank, "credit", acquire_epoch(peer.put.own_flags->credit));
      if (!peer.landed) add(peer.put.rank, "arrival", acquire_epoch(peer.put.own_flags->arrived));
    }
    return late;
  }

 private:
  struct Peer {
    PeerPut put;
    std::unique_ptr<PreparedCopy> copy;
    bool sent = true;
    bool landed = true;
  };

  static void try_put(Peer& peer, const Step& step) {
    // Acquires that the partner no longer reads what this put overwrites.
    if (peer.sent || !has_reached(acquire_epoch(peer.put.own_flags->credit), step.epoch)) return;
    const ProfilingRegion region("comm::put");
    peer.copy->enqueue(step.executor);
    // Publishes to the partner: the elements just stored into its memory.
    release_epoch(peer.put.remote_flags->arrived, step.epoch);
    peer.sent = true;
  }

  std::vector<Peer> peers_;
};

}  // namespace

std::unique_ptr<Link> make_peer_transfer(const TransferParts& parts) {
  if (!parts.executor.runs_on_host()) return make_device_peer_transfer(parts);
  return std::make_unique<PeerTransfer>(parts);
}

}  // namespace selvage::detail
