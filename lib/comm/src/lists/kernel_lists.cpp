#include "kernel_lists.hpp"

#include "../context_state.hpp"
#include "../device.hpp"
#include "../mappable.hpp"
#include "../transports/mailbox.hpp"
#include "../wait.hpp"

#include <Kokkos_Core.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

namespace selvage::detail {
namespace {

constexpr std::int64_t least_landing_bytes = 4096;
constexpr std::int64_t landing_alignment = 128;

/// Where a rank's puts go from now on.
struct LandingCard {
  SharedRange range;
  std::int64_t block_bytes = 0;  ///< of each of the two blocks
};

class KernelLists final : public KernelListPath {
 public:
  KernelLists(ContextState& context, int card_tag, int message_tag, bool on_host)
      : context_(context),
        card_tag_(card_tag),
        on_host_(on_host),
        words_(make_mpi_lists(context, message_tag, true)) {}
  ~KernelLists() override;

  void connect(std::span<ListLink* const> links, Executor& executor) override;
  void connect_self(ListLink& self, Executor& executor) override;
  void look_at_state(Executor& executor) override;
  void take_lists(bool with_self, Executor& executor) override;

  void start(const ListStep& step) override {
    if (!step.moves_particles()) return words_->start(step);
    has_put_ = has_taken_ = false;
    grow(step);
  }
  bool put(const ListStep& step) override {
    if (!step.moves_particles()) return words_->put(step);
    if (!has_put_) launch(step, ListLaunch::put, "comm::put");
    has_put_ = true;
    return true;
  }
  bool progress(const ListStep& step, std::vector<ListArrival>& arrivals) override;
  void take(const ListStep& step) override { launch(step, ListLaunch::take, "comm::wait"); }
  void exchange(const ListStep& step) override { launch(step, ListLaunch::exchange, "comm::exchange"); }
  void fail(const ListStep& step) override;
  void check() const override;
  [[nodiscard]] std::string describe_late(const ListStep& step) const override {
    return step.moves_particles() ? std::string() : words_->describe_late(step);
  }

 private:
  struct Peer {
    ListLink* link = nullptr;
    KernelListFlags* own = nullptr;
    KernelListFlags* remote = nullptr;
    std::byte* own_blocks = nullptr;
    std::byte* remote_blocks = nullptr;
    std::int64_t own_block_bytes = 0;
    std::int64_t remote_block_bytes = 0;
  };
  /// Cards on their way between ranks whose blocks grow.
  struct Growth {
    struct Card {
      Peer* peer;
      LandingCard card;
      MPI_Request request = MPI_REQUEST_NULL;
    };
    std::vector<Card> sent;
    std::vector<Card> received;
  };

  [[nodiscard]] bool is_self(const Peer& peer) const { return peer.link->rank == context_.rank(); }
  [[nodiscard]] bool serves(const Peer& peer) const {
    return (with_self_ || !is_self(peer)) && (peer.link->in.count > 0 || peer.link->out.count > 0);
  }
  void grow(const ListStep& step);
  void grow_own(Peer& peer, std::int64_t bytes, const ListStep& step, Growth& growth);
  void swap_cards(Growth& growth, const ListStep& step);
  [[nodiscard]] static const Growth::Card* first_missing(Growth& growth);
  static void cancel(Growth& growth);
  void require_same_operation(const Peer& peer, const ListStep& step) const;
  void tell(const Error& error) const;
  void read_epoch(Executor& executor);
  void upload(Executor& executor);
  void launch(const ListStep& step, ListLaunch launch, const char* region);
  [[nodiscard]] ListProgram program(const ListStep& step) const;
  /// Between the host and memory of flags.
  void read(void* target, const void* source, std::size_t bytes) const {
    on_host_ ? static_cast<void>(std::memcpy(target, source, bytes))
             : copy_device_bytes(target, source, bytes);
  }
  void write(void* target, const void* source, std::size_t bytes) const { read(target, source, bytes); }
  void release_header(const Peer& peer, const ListHeader& header, std::uint64_t epoch) const;
  [[nodiscard]] std::uint64_t arrived_epoch(const Peer& peer) const;
  [[nodiscard]] ListFailure failure_of(const Peer& peer) const;

  ContextState& context_;
  int card_tag_;
  bool on_host_;
  std::unique_ptr<ListPath> words_;
  std::vector<Peer> peers_;                      ///< of all ranks ever named, in any order
  std::vector<std::size_t> served_;              ///< of these, by rank: the rows of the table
  std::vector<std::shared_ptr<void>> mappings_;  ///< of others' flags and blocks, old blocks too
  std::vector<Buffer> memory_;                   ///< flags and blocks of this rank, old blocks too
  MirroredBuffer table_;
  std::vector<ListPeer> rows_;
  MirroredBuffer state_;
  Buffer fault_memory_;
  ListFault* fault_ = nullptr;
  bool with_self_ = false;
  bool has_put_ = true;
  bool has_taken_ = true;
  std::uint64_t epoch_ = 0;  ///< of the last operation, as far as the host knows: graphs may have gone on
};

/// Mappings are closed before any owner frees what is mapped: CUDA leaves the other order undefined.
KernelLists::~KernelLists() {
  if (on_host_) return;
  if (Kokkos::is_initialized() && !Kokkos::is_finalized())
    Kokkos::fence("comm: before a list's mappings are closed");
  mappings_.clear();
  context_.try_barrier();
}

void KernelLists::connect(std::span<ListLink* const> links, Executor& executor) {
  words_->connect(links, executor);
  if (links.empty()) return;
  const NamedBuffer flags = allocate_named(context_, executor, links.size() * sizeof(KernelListFlags));
  memory_.push_back(flags.buffer);
  std::vector<SharedRange> mine(links.size(), flags.range);
  std::vector<SharedRange> theirs(links.size());
  ContextState::Messages messages;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const int rank = links[i]->rank;
    mine[i].offset += i * sizeof(KernelListFlags);
    check_mpi(MPI_Irecv(&theirs[i], sizeof(SharedRange), MPI_BYTE, rank, card_tag_, context_.comm(),
                        messages.add(rank)),
              "MPI_Irecv");
    check_mpi(MPI_Isend(&mine[i], sizeof(SharedRange), MPI_BYTE, rank, card_tag_, context_.comm(),
                        messages.add(rank)),
              "MPI_Isend");
  }
  context_.wait_messages(messages, "to connect its lists");
  for (std::size_t i = 0; i < links.size(); ++i) {
    PeerMappings::Mapped mapped = context_.mappings().map(theirs[i]);
    Peer& peer = peers_.emplace_back();
    peer.link = links[i];
    peer.own = reinterpret_cast<KernelListFlags*>(flags.buffer.data) + i;
    peer.remote = reinterpret_cast<KernelListFlags*>(mapped.data);
    mappings_.push_back(std::move(mapped.owner));
  }
}

void KernelLists::connect_self(ListLink& self, Executor& executor) {
  const Buffer flags = allocate_mappable(context_, executor, sizeof(KernelListFlags));
  memory_.push_back(flags);
  Peer& peer = peers_.emplace_back();
  peer.link = &self;
  peer.own = peer.remote = reinterpret_cast<KernelListFlags*>(flags.data);
}

void KernelLists::look_at_state(Executor& executor) {
  if (fault_ != nullptr) state_.start_to_host(executor);
}

/// A rebuild is an epoch too, so that epochs are the plan's as long as no graph is replayed.
void KernelLists::take_lists(bool with_self, Executor& executor) {
  if (fault_ == nullptr) {
    fault_memory_ = executor.allocate_staging(sizeof(ListFault));
    fault_ = new (fault_memory_.data) ListFault();
    *state_.reserve<ListState>(1, executor) = {};
  }
  check();
  // Graphs may have gone on since the host last knew.
  epoch_ = ++state_.host<ListState>()->epoch;
  state_.to_kernels(executor);
  with_self_ = with_self;
  upload(executor);
}

/// Waits.
void KernelLists::read_epoch(Executor& executor) {
  state_.to_host(executor);
  epoch_ = state_.host<ListState>()->epoch;
}

/// After a fence: kernels may still have read the table, and copies its image.
void KernelLists::upload(Executor& executor) {
  served_.clear();
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (serves(peers_[i])) served_.push_back(i);
  }
  std::ranges::sort(served_, {}, [&](std::size_t i) { return peers_[i].link->rank; });
  rows_.clear();
  for (const std::size_t i : served_) {
    const Peer& peer = peers_[i];
    rows_.push_back({.remote = peer.remote,
                     .own = peer.own,
                     .remote_blocks = peer.remote_blocks,
                     .own_blocks = peer.own_blocks,
                     .remote_block_bytes = peer.remote_block_bytes,
                     .own_block_bytes = peer.own_block_bytes,
                     .out = peer.link->out,
                     .in = peer.link->in,
                     .rank = peer.link->rank});
  }
  if (rows_.empty()) return;
  std::ranges::copy(rows_, table_.reserve<ListPeer>(rows_.size(), executor));
  table_.to_kernels(executor);
}

/// Both ranks know from their lists and fields whose blocks are too small. Old ones stay, and stay mapped: a captured
/// graph may still name them.
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
  const std::int64_t wanted = std::max({bytes, peer.own_block_bytes * 3 / 2, least_landing_bytes});
  peer.own_block_bytes = (wanted + landing_alignment - 1) / landing_alignment * landing_alignment;
  const std::size_t all = 2 * static_cast<std::size_t>(peer.own_block_bytes);
  if (is_self(peer)) {
    memory_.push_back(allocate_mappable(context_, step.executor, all));
    peer.remote_block_bytes = peer.own_block_bytes;
    peer.own_blocks = peer.remote_blocks = memory_.back().data;
    return;
  }
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
  Deadline deadline(context_.timeout());
  Backoff backoff(context_.yields());
  while (const Growth::Card* missing = first_missing(growth)) {
    for (const Growth::Card& due : growth.received) {
      if (due.request != MPI_REQUEST_NULL) require_same_operation(*due.peer, step);
    }
    if (deadline.passed()) {
      throw Error(
          ErrorKind::timeout,
          fmt::format("a list's {} waited {} ms for rank {} (peer, landing block)", to_string(step.operation),
                      context_.timeout().count(), missing->peer->link->rank));
    }
    backoff.pause();
  }
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

/// A rank that has put without making room does something else.
void KernelLists::require_same_operation(const Peer& peer, const ListStep& step) const {
  const std::uint64_t epoch = epoch_ + 1;
  if (!has_reached(arrived_epoch(peer), epoch)) return;
  ListHeader theirs;
  read(&theirs, &peer.own->headers[epoch % 2], sizeof theirs);
  require_same_header(peer.link->rank, epoch, step.header(*peer.link), theirs,
                      step.received(*peer.link).count, failure_of(peer));
}

std::uint64_t KernelLists::arrived_epoch(const Peer& peer) const {
  // Acquires the other rank's header. A copy from a GPU comes after what its flag publishes.
  if (on_host_) return acquire_epoch(peer.own->arrived);
  std::uint64_t epoch = 0;
  read(&epoch, &peer.own->arrived.epoch, sizeof epoch);
  return epoch;
}

ListFailure KernelLists::failure_of(const Peer& peer) const {
  ListFailure failure;
  read(&failure, &peer.own->failure, sizeof failure);
  return failure;
}

/// Instead of a kernel's put.
void KernelLists::release_header(const Peer& peer, const ListHeader& header, std::uint64_t epoch) const {
  write(&peer.remote->headers[epoch % 2], &header, sizeof header);
  // Publishes to the other rank's kernel: the header, and a failure's text. Each copy to a GPU has ended before the next.
  if (on_host_) {
    release_epoch(peer.remote->arrived, epoch);
  } else {
    write(&peer.remote->arrived.epoch, &epoch, sizeof epoch);
  }
}

/// Others may wait in a rebuild, for words, or in a kernel.
void KernelLists::fail(const ListStep& step) {
  words_->fail(step);
  if (fault_ == nullptr) return;
  read_epoch(step.executor);
  tell(*step.failure);
}

/// In place of the next operation's particles.
void KernelLists::tell(const Error& error) const {
  ListFailure failure{.kind = static_cast<std::int32_t>(error.kind()), .text = {}};
  error.message().copy(failure.text.data(), failure.text.size() - 1);
  for (const Peer& peer : peers_) {
    if (is_self(peer)) continue;
    write(&peer.remote->failure, &failure, sizeof failure);
    release_header(peer, {.operation = ListOperation::failure}, epoch_ + 1);
  }
}

bool KernelLists::progress(const ListStep& step, std::vector<ListArrival>& arrivals) {
  if (!step.moves_particles()) return words_->progress(step, arrivals);
  if (has_taken_) return true;
  launch(step, ListLaunch::await, "comm::wait");
  for (const std::size_t i : served_) {
    const Peer& peer = peers_[i];
    const ListRange& range = step.received(*peer.link);
    if (range.count == 0) continue;
    std::byte* const block = peer.own_blocks + static_cast<std::int64_t>(epoch_ % 2) * peer.own_block_bytes;
    arrivals.push_back({peer.link, {block, range.first, range.count}});
  }
  has_taken_ = true;
  return true;
}

ListProgram KernelLists::program(const ListStep& step) const {
  const auto timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(context_.timeout());
  return {.peers = table_.kernels<ListPeer>(),
          .peer_count = static_cast<int>(rows_.size()),
          .reverse = step.operation == ListOperation::scatter_add,
          .state = state_.kernels<ListState>(),
          .fault = fault_,
          .header = {.operation = step.operation,
                     .entries = 0,
                     .particle_bytes = step.mover->particle_bytes(),
                     .signature = step.mover->signature()},
          .timeout_ns = static_cast<std::uint64_t>(timeout.count())};
}

void KernelLists::launch(const ListStep& step, ListLaunch launch, const char* region) {
  if (launch != ListLaunch::put) ++epoch_;
  Kokkos::Profiling::pushRegion(region);
  step.mover->run(program(step), rows_, launch);
  Kokkos::Profiling::popRegion();
}

void KernelLists::check() const {
  // Acquires what the kernel wrote before it released `kind`.
  if (fault_ == nullptr || acquire_word(fault_->kind) == ListFault::none) return;
  const ListFault& fault = *fault_;
  const auto rank = static_cast<int>(fault.peer_rank);
  if (fault.kind == ListFault::mismatch) {
    const Peer& peer = peers_[served_[static_cast<std::size_t>(fault.place)]];
    require_same_header(rank, fault.wanted, fault.mine, fault.theirs, fault.announced, failure_of(peer));
  }
  throw Error(ErrorKind::timeout,
              fmt::format("a list's {} waited {} ms for rank {} (peer, arrival epoch {} wanted, {} seen)",
                          to_string(fault.mine.operation), context_.timeout().count(), rank, fault.wanted,
                          fault.seen));
}

}  // namespace

std::unique_ptr<KernelListPath> make_kernel_lists(ContextState& context, int card_tag, int message_tag,
                                                  bool on_host) {
  return std::make_unique<KernelLists>(context, card_tag, message_tag, on_host);
}

}  // namespace selvage::detail
