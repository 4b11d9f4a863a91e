#include "launched_lists.hpp"

#include "gpu/device.hpp"
#include "landing.hpp"
#include "runtime/context_state.hpp"
#include "runtime/kokkos_runtime.hpp"
#include "runtime/mappable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>

namespace selvage::detail {
LaunchedLists::LaunchedLists(ContextState& context, int message_tag, bool on_host)
    : context_(context), on_host_(on_host), words_(make_mpi_lists(context, message_tag, true)) {}

bool LaunchedLists::is_self(const Peer& peer) const {
  return peer.link->rank == context_.rank();
}

void LaunchedLists::read(void* target, const void* source, std::size_t bytes) const {
  on_host_ ? static_cast<void>(std::memcpy(target, source, bytes)) : copy_device_bytes(target, source, bytes);
}

void LaunchedLists::connect_self(ListLink& self, Executor& executor) {
  const Buffer flags = allocate_mappable(context_, executor, sizeof(KernelListFlags));
  memory_.push_back(flags);
  Peer& peer = peers_.emplace_back();
  peer.link = &self;
  peer.own = peer.remote = reinterpret_cast<KernelListFlags*>(flags.data);
}

void LaunchedLists::look_at_state(Executor& executor) {
  if (fault_ != nullptr) state_.start_to_host(executor);
}

/// A rebuild counts as an epoch too.
void LaunchedLists::take_lists(bool with_self, std::uint64_t epoch, Executor& executor) {
  if (fault_ == nullptr) {
    fault_memory_ = executor.allocate_staging(sizeof(ListFault));
    fault_ = new (fault_memory_.data) ListFault();
    *state_.reserve<ListState>(1, executor) = {};
  }
  check();
  epoch_ = state_.host<ListState>()->epoch = epoch;
  state_.to_kernels(executor);
  with_self_ = with_self;
  upload(executor);
}

/// Waits.
void LaunchedLists::read_epoch(Executor& executor) {
  state_.to_host(executor);
  epoch_ = state_.host<ListState>()->epoch;
}

ListPeer LaunchedLists::row_of(const Peer& peer) const {
  return {.remote = peer.remote,
          .own = peer.own,
          .remote_blocks = peer.remote_blocks,
          .own_blocks = peer.own_blocks,
          .remote_headers = reinterpret_cast<std::byte*>(peer.remote->headers.data()),
          .own_headers = reinterpret_cast<std::byte*>(peer.own->headers.data()),
          .remote_block_bytes = peer.remote_block_bytes,
          .own_block_bytes = peer.own_block_bytes,
          .to_odd_remote_header = sizeof(ListHeader),
          .to_odd_own_header = sizeof(ListHeader),
          .out = peer.link->out,
          .in = peer.link->in,
          .rank = peer.link->rank,
          .ring = 0};
}

/// Call it after a fence, because kernels may use the table, and copies its image, until then.
void LaunchedLists::upload(Executor& executor) {
  served_.clear();
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (serves(peers_[i])) served_.push_back(i);
  }
  std::ranges::sort(served_, {}, [&](std::size_t i) { return peers_[i].link->rank; });
  rows_.clear();
  for (const std::size_t i : served_) rows_.push_back(row_of(peers_[i]));
  if (rows_.empty()) return;
  std::ranges::copy(rows_, table_.reserve<ListPeer>(rows_.size(), executor));
  table_.to_kernels(executor);
}

void LaunchedLists::grow_self(Peer& peer, std::int64_t bytes, Executor& executor) {
  peer.own_block_bytes = peer.remote_block_bytes = grown_landing_bytes(bytes, peer.own_block_bytes);
  memory_.push_back(
      allocate_mappable(context_, executor, 2 * static_cast<std::size_t>(peer.own_block_bytes)));
  peer.own_blocks = peer.remote_blocks = memory_.back().data;
}

bool LaunchedLists::progress(const ListStep& step) {
  if (!step.moves_particles()) return words_->progress(step);
  if (has_taken_) return true;
  launch(step, ListLaunch::await, "comm::wait");
  for (std::size_t i = 0; i < served_.size(); ++i) {
    const Peer& peer = peers_[served_[i]];
    const ListRange& range = step.received(*peer.link);
    if (range.count == 0) continue;
    std::byte* const block =
        rows_[i].own_blocks + static_cast<std::int64_t>(epoch_ % 2) * rows_[i].own_block_bytes;
    step.arrivals->push_back({peer.link, {block, range.first, range.count}});
  }
  has_taken_ = true;
  return true;
}

ListProgram LaunchedLists::program(const ListStep& step) const {
  const auto timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(context_.timeout());
  ListProgram program{.peers = table_.kernels<ListPeer>(),
                      .peer_count = static_cast<int>(rows_.size()),
                      .reverse = step.operation == ListOperation::scatter_add,
                      .state = state_.kernels<ListState>(),
                      .fault = fault_,
                      .header = {.operation = step.operation,
                                 .entries = 0,
                                 .particle_bytes = step.mover->particle_bytes(),
                                 .signature = step.mover->signature()},
                      .timeout_ns = static_cast<std::uint64_t>(timeout.count())};
  complete(program);
  return program;
}

void LaunchedLists::launch(const ListStep& step, ListLaunch launch, const char* name) {
  if (launch != ListLaunch::put) ++epoch_;
  const ProfilingRegion region(name);
  step.mover->run(program(step), rows_, launch);
}

void LaunchedLists::check() const {
  // Acquires what the kernel wrote before it released `kind`.
  if (fault_ == nullptr || acquire_word(fault_->kind) == ListFault::none) return;
  const ListFault& fault = *fault_;
  const auto rank = static_cast<int>(fault.peer_rank);
  if (fault.kind == ListFault::mismatch) {
    const Peer& peer = peers_[served_[static_cast<std::size_t>(fault.place)]];
    require_same_header(rank, fault.wanted, fault.mine, fault.theirs, fault.announced,
                        failure_of(peer, fault.wanted));
  }
  throw Error(ErrorKind::timeout,
              fmt::format("a list's {} waited {} ms for rank {} ({} epoch {} wanted, {} seen)",
                          to_string(fault.mine.operation), context_.timeout().count(), rank,
                          awaited(static_cast<ListFault::Kind>(fault.kind)), fault.wanted, fault.seen));
}

}  // namespace selvage::detail
