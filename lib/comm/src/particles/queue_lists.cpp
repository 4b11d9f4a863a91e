#include "landing.hpp"
#include "launched_lists.hpp"
#include "proxy/command_queue.hpp"
#include "runtime/context_state.hpp"
#include "runtime/kokkos_runtime.hpp"
#include "runtime/wait.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

namespace selvage::detail {
namespace {

/// Slots of one link's ring. Each operation needs two: a send and a receive.
constexpr std::uint64_t ring_slots = 8;

class QueueLists final : public LaunchedLists {
 public:
  QueueLists(ContextState& context, int message_tag, bool on_host, bool staged)
      : LaunchedLists(context, message_tag, on_host), message_tag_(message_tag), staged_(staged || on_host) {}
  ~QueueLists() override;

  void connect(std::span<ListLink* const> links, Executor& executor) override;
  void take_lists(bool with_self, std::uint64_t epoch, Executor& executor) override;
  void fail(const ListStep& step) override;
  void check() const override {
    rings_->check();
    LaunchedLists::check();
  }

 private:
  void grow(const ListStep& step) override;
  [[nodiscard]] ListPeer row_of(const Peer& peer) const override;
  void complete(ListProgram& program) const override {
    program.commands = port_.kernels<CommandPort>();
    program.message_tag = message_tag_;
  }
  [[nodiscard]] std::string_view awaited(ListFault::Kind kind) const override {
    return kind == ListFault::not_sent ? "MPI by proxy, acceptance of" : "MPI by proxy, message of";
  }
  [[nodiscard]] ListFailure failure_of(const Peer& peer, std::uint64_t epoch) const override;
  [[nodiscard]] std::int64_t needed(const Peer& peer, std::int64_t bytes) const {
    return is_self(peer) ? bytes : std::max(list_header_bytes + bytes, least_list_message_bytes);
  }
  [[nodiscard]] std::byte* allocate_blocks(std::int64_t block_bytes, Executor& executor);
  [[nodiscard]] KernelListFlags* allocate_flags(std::size_t count, Executor& executor);
  void make_rings(Executor& executor);
  void wait_until_idle();

  int message_tag_;
  bool staged_;                          ///< blocks lie in host memory, where kernels pack by themselves
  std::unique_ptr<CommandRings> rings_;  ///< one per peer
  MirroredBuffer port_;
};

/// Memory that the proxy or MPI still uses after a timeout is never freed.
QueueLists::~QueueLists() {
  if (!on_host_) fence_all("comm: before a list's rings go");
  if (rings_ == nullptr || rings_->stop()) return;
  static_cast<void>(new std::vector<Buffer>(std::move(memory_)));
}

/// Flags lie in host memory, which the proxy can access.
void QueueLists::connect(std::span<ListLink* const> links, Executor& executor) {
  words_->connect(links, executor);
  if (links.empty()) return;
  executor.fence();
  wait_until_idle();
  KernelListFlags* flags = allocate_flags(links.size(), executor);
  for (std::size_t i = 0; i < links.size(); ++i) {
    Peer& peer = peers_.emplace_back();
    peer.link = links[i];
    peer.own = new (flags + i) KernelListFlags();
  }
  make_rings(executor);
}

/// Staging memory may be aligned less strictly than flags.
KernelListFlags* QueueLists::allocate_flags(std::size_t count, Executor& executor) {
  const std::size_t bytes = count * sizeof(KernelListFlags);
  std::size_t room = bytes + alignof(KernelListFlags);
  memory_.push_back(executor.allocate_staging(room));
  void* begin = memory_.back().data;
  return static_cast<KernelListFlags*>(std::align(alignof(KernelListFlags), bytes, begin, room));
}

void QueueLists::make_rings(Executor& executor) {
  const CommandRings::Sizes sizes{.rings = static_cast<int>(peers_.size()),
                                  .capacity = ring_slots,
                                  .message_memory = staged_ ? MemoryKind::host : MemoryKind::device};
  rings_ = std::make_unique<CommandRings>(context_, executor, sizes, nullptr);
  *port_.reserve<CommandPort>(1, executor) = rings_->port();
  port_.to_kernels(executor);
  executor.fence();
}

void QueueLists::wait_until_idle() {
  if (rings_ == nullptr) return;
  const auto is_idle = [&] {
    if (rings_->is_idle()) return true;
    rings_->check();
    return false;
  };
  if (poll_until(context_.timeout(), context_.yields(), is_idle)) return;
  throw Error(ErrorKind::timeout, fmt::format("a list's proxy waited {} ms for its messages to be accepted",
                                              context_.timeout().count()));
}

/// Call it after a fence. A rank that has received has also sent, so the rings are empty; the last messages may not be complete yet.
void QueueLists::take_lists(bool with_self, std::uint64_t epoch, Executor& executor) {
  wait_until_idle();
  LaunchedLists::take_lists(with_self, epoch, executor);
  for (Peer& peer : peers_) {
    if (is_self(peer)) continue;
    // Publishes to later kernels: no earlier message is underway. The proxy, which writes these words, is idle.
    release_epoch(peer.own->arrived, epoch_);
    release_epoch(peer.own->sent, epoch_);
  }
}

/// Both kinds of blocks belong to this rank. Old blocks are kept, because the proxy may still send from them and captured graphs use them.
void QueueLists::grow(const ListStep& step) {
  const auto incoming = [&](const Peer& peer) { return needed(peer, step.bytes(step.received(*peer.link))); };
  const auto outgoing = [&](const Peer& peer) { return needed(peer, step.bytes(step.sent(*peer.link))); };
  const auto is_small = [&](const Peer& peer) {
    return serves(peer) &&
           (incoming(peer) > peer.own_block_bytes || outgoing(peer) > peer.remote_block_bytes);
  };
  if (std::ranges::none_of(peers_, is_small)) return;
  // Waits, so that no kernel needs the proxy while memory is allocated.
  read_epoch(step.executor);
  for (Peer& peer : peers_) {
    if (!is_small(peer)) continue;
    if (is_self(peer)) {
      grow_self(peer, incoming(peer), step.executor);
      continue;
    }
    if (incoming(peer) > peer.own_block_bytes) {
      peer.own_block_bytes = grown_landing_bytes(incoming(peer), peer.own_block_bytes);
      peer.own_blocks = allocate_blocks(peer.own_block_bytes, step.executor);
    }
    if (outgoing(peer) > peer.remote_block_bytes) {
      peer.remote_block_bytes = grown_landing_bytes(outgoing(peer), peer.remote_block_bytes);
      peer.remote_blocks = allocate_blocks(peer.remote_block_bytes, step.executor);
    }
  }
  upload(step.executor);
}

std::byte* QueueLists::allocate_blocks(std::int64_t block_bytes, Executor& executor) {
  const auto bytes = 2 * static_cast<std::size_t>(block_bytes);
  memory_.push_back(staged_ ? executor.allocate_staging(bytes) : executor.allocate(bytes));
  return memory_.back().data;
}

/// A block begins with its header, so that both are sent as one message.
ListPeer QueueLists::row_of(const Peer& peer) const {
  if (is_self(peer)) return LaunchedLists::row_of(peer);
  const auto behind_header = [](std::byte* block) {
    return block == nullptr ? nullptr : block + list_header_bytes;
  };
  return {.remote = nullptr,
          .own = peer.own,
          .remote_blocks = behind_header(peer.remote_blocks),
          .own_blocks = behind_header(peer.own_blocks),
          .remote_headers = peer.remote_blocks,
          .own_headers = peer.own_blocks,
          .remote_block_bytes = peer.remote_block_bytes,
          .own_block_bytes = peer.own_block_bytes,
          .to_odd_remote_header = peer.remote_block_bytes,
          .to_odd_own_header = peer.own_block_bytes,
          .out = peer.link->out,
          .in = peer.link->in,
          .rank = peer.link->rank,
          .ring = static_cast<std::int32_t>(&peer - peers_.data())};
}

/// Sends an error, which other ranks receive instead of particles, in a rebuild or through their proxies.
void QueueLists::fail(const ListStep& step) {
  if (fault_ != nullptr) read_epoch(step.executor);
  words_->fail(step);
}

ListFailure QueueLists::failure_of(const Peer& peer, std::uint64_t epoch) const {
  ListFailure failure;
  const std::int64_t block = static_cast<std::int64_t>(epoch % 2) * peer.own_block_bytes;
  read(&failure,
       is_self(peer) ? reinterpret_cast<std::byte*>(&peer.own->failure)
                     : peer.own_blocks + block + list_header_bytes,
       sizeof failure);
  return failure;
}

}  // namespace

std::unique_ptr<KernelListPath> make_queue_lists(ContextState& context, int message_tag, bool on_host,
                                                 bool staged) {
  return std::make_unique<QueueLists>(context, message_tag, on_host, staged);
}

}  // namespace selvage::detail
