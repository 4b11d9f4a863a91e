#include "kernel_lists.hpp"

#include "landing.hpp"
#include "launched_lists.hpp"
#include "links/mailbox.hpp"
#include "runtime/cards.hpp"
#include "runtime/kokkos_runtime.hpp"
#include "runtime/wait.hpp"

#include <fmt/format.h>

#include <utility>

namespace selvage::detail {
namespace {

class KernelLists final : public LaunchedLists {
 public:
  KernelLists(ContextState& context, int card_tag, int message_tag, bool on_host)
      : LaunchedLists(context, message_tag, on_host), card_tag_(card_tag) {}
  ~KernelLists() override;

  void connect(std::span<ListLink* const> links, Executor& executor) override;
  void fail(const ListStep& step) override;

 private:
  /// Messages that are underway between ranks whose blocks grow.
  struct Growth {
    struct Card {
      Peer* peer;
      LandingCard card;
      MPI_Request request = MPI_REQUEST_NULL;
    };
    std::vector<Card> sent;
    std::vector<Card> received;
  };

  void grow(const ListStep& step) override;
  [[nodiscard]] std::string_view awaited(ListFault::Kind) const override { return "peer, arrival"; }
  [[nodiscard]] ListFailure failure_of(const Peer& peer, std::uint64_t epoch) const override;
  void grow_own(Peer& peer, std::int64_t bytes, const ListStep& step, Growth& growth);
  void swap_cards(Growth& growth, const ListStep& step);
  [[nodiscard]] static const Growth::Card* first_missing(Growth& growth);
  static void cancel(Growth& growth);
  void require_same_operation(const Peer& peer, const ListStep& step) const;
  void tell(const Error& error) const;
  void release_header(const Peer& peer, const ListHeader& header, std::uint64_t epoch) const;
  [[nodiscard]] std::uint64_t arrived_epoch(const Peer& peer) const;

  int card_tag_;
  std::vector<std::shared_ptr<void>> mappings_;  ///< of others' flags and blocks, old blocks too
};

/// Mappings are closed before any owner frees the memory: the other order is undefined in CUDA.
KernelLists::~KernelLists() {
  if (on_host_) return;
  fence_all("comm: before a list's mappings are closed");
  mappings_.clear();
  context_.try_barrier();
}

void KernelLists::connect(std::span<ListLink* const> links, Executor& executor) {
  words_->connect(links, executor);
  if (links.empty()) return;
  const NamedBuffer flags = allocate_named(context_, executor, links.size() * sizeof(KernelListFlags));
  memory_.push_back(flags.buffer);
  std::vector<CardFor<SharedRange>> cards;
  for (std::size_t i = 0; i < links.size(); ++i) {
    cards.push_back({links[i]->rank, flags.range});
    cards[i].card.offset += i * sizeof(KernelListFlags);
  }
  const auto theirs = detail::swap_cards(context_, card_tag_, cards, "to connect its lists");
  for (std::size_t i = 0; i < links.size(); ++i) {
    PeerMappings::Mapped mapped = context_.mappings().map(theirs[i]);
    Peer& peer = peers_.emplace_back();
    peer.link = links[i];
    peer.own = reinterpret_cast<KernelListFlags*>(flags.buffer.data) + i;
    peer.remote = reinterpret_cast<KernelListFlags*>(mapped.data);
    mappings_.push_back(std::move(mapped.owner));
  }
}

/// Both ranks know from their lists and fields which blocks are too small. Old blocks are kept, and stay mapped, because captured graphs may
/// still use them.
void KernelLists::grow(const ListStep& step) {
  auto growth = std::make_unique<Growth>();
  bool grows = false;
  for (Peer& peer : peers_) {
    if (!serves(peer)) continue;
    const std::int64_t incoming = step.bytes(step.received(*peer.link));
    const std::int64_t outgoing = step.bytes(step.sent(*peer.link));
    if (outgoing > peer.remote_block_bytes && !is_self(peer)) growth->received.push_back({&peer, {}});
    grows = grows || incoming > peer.own_block_bytes || outgoing > peer.remote_block_bytes;
    if (incoming > peer.own_block_bytes) grow_own(peer, incoming, step, *growth);
  }
  if (!grows) return;
  read_epoch(step.executor);
  try {
    swap_cards(*growth, step);
  } catch (const Error& error) {
    cancel(*growth);
    // MPI may still read the cards.
    static_cast<void>(growth.release());
    tell(error);
    throw;
  }
  for (const Growth::Card& arrived : growth->received) {
    PeerMappings::Mapped mapped = context_.mappings().map(arrived.card.range);
    arrived.peer->remote_blocks = mapped.data;
    arrived.peer->remote_block_bytes = arrived.card.block_bytes;
    mappings_.push_back(std::move(mapped.owner));
  }
  upload(step.executor);
}

void KernelLists::grow_own(Peer& peer, std::int64_t bytes, const ListStep& step, Growth& growth) {
  if (is_self(peer)) return grow_self(peer, bytes, step.executor);
  peer.own_block_bytes = grown_landing_bytes(bytes, peer.own_block_bytes);
  const std::size_t all = 2 * static_cast<std::size_t>(peer.own_block_bytes);
  const NamedBuffer blocks = allocate_named(context_, step.executor, all);
  memory_.push_back(blocks.buffer);
  peer.own_blocks = blocks.buffer.data;
  growth.sent.push_back({&peer, {blocks.range, peer.own_block_bytes}});
}

void KernelLists::swap_cards(Growth& growth, const ListStep& step) {
  for (Growth::Card& sent : growth.sent) {
    check_mpi(MPI_Isend(&sent.card, sizeof sent.card, MPI_BYTE, sent.peer->link->rank, card_tag_,
                        context_.comm(), &sent.request),
              "MPI_Isend");
  }
  for (Growth::Card& due : growth.received) {
    check_mpi(MPI_Irecv(&due.card, sizeof due.card, MPI_BYTE, due.peer->link->rank, card_tag_,
                        context_.comm(), &due.request),
              "MPI_Irecv");
  }
  const Growth::Card* missing = nullptr;
  const auto is_complete = [&] {
    missing = first_missing(growth);
    for (const Growth::Card& due : growth.received) {
      if (missing != nullptr && due.request != MPI_REQUEST_NULL) require_same_operation(*due.peer, step);
    }
    return missing == nullptr;
  };
  if (poll_until(context_.timeout(), context_.yields(), is_complete)) return;
  throw Error(ErrorKind::timeout,
              fmt::format("a list's {} waited {} ms for rank {} (peer, landing block)",
                          to_string(step.operation), context_.timeout().count(), missing->peer->link->rank));
}

const KernelLists::Growth::Card* KernelLists::first_missing(Growth& growth) {
  for (std::vector<Growth::Card>* cards : {&growth.received, &growth.sent}) {
    for (Growth::Card& card : *cards) {
      int completed = 0;
      check_mpi(MPI_Test(&card.request, &completed, MPI_STATUS_IGNORE), "MPI_Test");
      if (completed == 0) return &card;
    }
  }
  return nullptr;
}

void KernelLists::cancel(Growth& growth) {
  for (Growth::Card& due : growth.received) {
    if (due.request == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&due.request);
    MPI_Request_free(&due.request);
  }
}

/// A rank that has put without growing its block is calling another operation.
void KernelLists::require_same_operation(const Peer& peer, const ListStep& step) const {
  const std::uint64_t epoch = epoch_ + 1;
  if (!has_reached(arrived_epoch(peer), epoch)) return;
  ListHeader theirs;
  read(&theirs, &peer.own->headers[epoch % 2], sizeof theirs);
  require_same_header(peer.link->rank, epoch, step.header(*peer.link), theirs,
                      step.received(*peer.link).count, failure_of(peer, epoch));
}

std::uint64_t KernelLists::arrived_epoch(const Peer& peer) const {
  // Acquires the other rank's header. A copy from a GPU comes after what its flag publishes.
  if (on_host_) return acquire_epoch(peer.own->arrived);
  std::uint64_t epoch = 0;
  read(&epoch, &peer.own->arrived.epoch, sizeof epoch);
  return epoch;
}

ListFailure KernelLists::failure_of(const Peer& peer, std::uint64_t) const {
  ListFailure failure;
  read(&failure, &peer.own->failure, sizeof failure);
  return failure;
}

/// Puts from the host, instead of a kernel.
void KernelLists::release_header(const Peer& peer, const ListHeader& header, std::uint64_t epoch) const {
  write(&peer.remote->headers[epoch % 2], &header, sizeof header);
  // Publishes to the other rank's kernel: the header, and a failure's text. Each copy to a GPU has ended before the next.
  if (on_host_) {
    release_epoch(peer.remote->arrived, epoch);
  } else {
    write(&peer.remote->arrived.epoch, &epoch, sizeof epoch);
  }
}

/// Other ranks may wait in a rebuild for a message, or in a kernel.
void KernelLists::fail(const ListStep& step) {
  words_->fail(step);
  if (fault_ == nullptr) return;
  read_epoch(step.executor);
  tell(*step.failure);
}

/// Sent instead of the particles of the next operation.
void KernelLists::tell(const Error& error) const {
  ListFailure failure{.kind = static_cast<std::int32_t>(error.kind()), .text = {}};
  error.message().copy(failure.text.data(), failure.text.size() - 1);
  for (const Peer& peer : peers_) {
    if (is_self(peer)) continue;
    write(&peer.remote->failure, &failure, sizeof failure);
    release_header(peer, {.operation = ListOperation::failure}, epoch_ + 1);
  }
}

}  // namespace

std::unique_ptr<KernelListPath> make_kernel_lists(ContextState& context, int card_tag, int message_tag,
                                                  bool on_host) {
  return std::make_unique<KernelLists>(context, card_tag, message_tag, on_host);
}

}  // namespace selvage::detail
