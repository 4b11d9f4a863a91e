#include "list_port_plan.hpp"

#include "links/mailbox.hpp"
#include "runtime/cards.hpp"
#include "runtime/kokkos_runtime.hpp"

#include <selvage/comm/detail/list_mover.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

namespace selvage::detail {
namespace {

constexpr std::int64_t alignment = 128;

}  // namespace

ListPortPlan::ListPortPlan(ContextState& context, int card_tag, bool on_host)
    : context_(context), card_tag_(card_tag), on_host_(on_host) {}

/// Mappings are closed before any owner frees the memory: the other order is undefined in CUDA.
ListPortPlan::~ListPortPlan() {
  if (on_host_) return;
  fence_all("comm: before a list port's mappings are closed");
  mappings_.clear();
  context_.try_barrier();
}

ListPortTable ListPortPlan::open(std::span<const std::unique_ptr<ListLink>> links, const ListIndex& index,
                                 std::size_t element_bytes, Executor& executor) {
  reserve(index, element_bytes, executor);
  std::vector<const ListLink*> served;
  for (const auto& link : links) {
    if (link->in.count > 0 || link->out.count > 0) served.push_back(link.get());
  }
  begin_epochs(served.size(), executor);
  upload(served, swap_cards(served, element_bytes), executor);
  const auto timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(context_.timeout());
  return {.peers = peers_.kernels<ListPortPeer>(),
          .peer_count = static_cast<int>(served.size()),
          .places = places_.reserve<ListPortPlace>(static_cast<std::size_t>(index.entries), executor),
          .arrived = arrived(),
          .ghosts = ghost_memory_.data,
          .to_odd_epochs = to_odd_epochs_,
          .state = state_.kernels<ListPortState>(),
          .fault = fault_,
          .timeout_ns = static_cast<std::uint64_t>(timeout.count())};
}

void ListPortPlan::reserve(const ListIndex& index, std::size_t element_bytes, Executor& executor) {
  if (fault_ == nullptr) {
    fault_memory_ = executor.allocate_staging(sizeof(ListPortFault));
    fault_ = new (fault_memory_.data) ListPortFault();
    const std::size_t flags = static_cast<std::size_t>(context_.size()) * sizeof(Flag);
    no_flags_ = executor.allocate_staging(flags);
    std::memset(no_flags_.data, 0, flags);
    NamedBuffer arrived = allocate_named(context_, executor, 2 * flags);
    arrived_memory_ = std::move(arrived.buffer);
    arrived_ = arrived.range;
  }
  const std::int64_t bytes =
      std::max<std::int64_t>(1, index.ghosts) * static_cast<std::int64_t>(element_bytes);
  if (bytes <= to_odd_epochs_) return;
  const std::int64_t wanted = std::max(bytes, to_odd_epochs_ * 3 / 2);
  to_odd_epochs_ = (wanted + alignment - 1) / alignment * alignment;
  NamedBuffer ghosts = allocate_named(context_, executor, 2 * static_cast<std::size_t>(to_odd_epochs_));
  memory_.push_back(std::exchange(ghost_memory_, std::move(ghosts.buffer)));
  ghosts_ = ghosts.range;
}

/// Ranks that share ghosts from now on may have made different numbers of launches, so all begin at epoch 0 again. Peers' kernels that
/// use the last table may still set its flags. So this table takes the other set of flags, those of the table before the last: all
/// kernels that used that one have ended, because their ranks opened the last table, or rebuilt the list, after them. The flags are
/// zero before any rank learns where they are.
void ListPortPlan::begin_epochs(std::size_t served, Executor& executor) {
  first_flag_ = first_flag_ == 0 ? static_cast<std::size_t>(context_.size()) : 0;
  if (on_host_) {
    std::fill_n(arrived(), served, Flag{});
  } else if (served > 0) {
    executor.stage_in(reinterpret_cast<std::byte*>(arrived()), no_flags_.data, served * sizeof(Flag));
    executor.fence();
  }
  *state_.reserve<ListPortState>(1, executor) = {};
  state_.to_kernels(executor);
}

Flag* ListPortPlan::arrived() const {
  return reinterpret_cast<Flag*>(arrived_memory_.data) + first_flag_;
}

/// Flags are indexed by row, so kernels find them without a table.
ListPortPlan::Card ListPortPlan::card_for(const ListLink& link, std::size_t row,
                                          std::size_t element_bytes) const {
  Card card{ghosts_, to_odd_epochs_, arrived_, static_cast<std::int64_t>(element_bytes)};
  card.ghosts.offset += static_cast<std::uint64_t>(link.in.first) * element_bytes;
  card.arrived.offset += (first_flag_ + row) * sizeof(Flag);
  return card;
}

std::vector<ListPortPlan::Card> ListPortPlan::swap_cards(std::span<const ListLink* const> served,
                                                         std::size_t element_bytes) const {
  std::vector<CardFor<Card>> mine;
  for (std::size_t i = 0; i < served.size(); ++i)
    mine.push_back({served[i]->rank, card_for(*served[i], i, element_bytes)});
  auto theirs = detail::swap_cards(context_, card_tag_, mine, "to open its list port");
  for (std::size_t i = 0; i < served.size(); ++i) {
    if (theirs[i].element_bytes == mine[i].card.element_bytes) continue;
    throw Error(
        ErrorKind::usage,
        fmt::format("a list's ghosts are of {} bytes for the ports of rank {}, and of {} for those of "
                    "rank {}",
                    theirs[i].element_bytes, served[i]->rank, mine[i].card.element_bytes, context_.rank()));
  }
  return theirs;
}

void ListPortPlan::upload(std::span<const ListLink* const> served, std::span<const Card> cards,
                          Executor& executor) {
  // The last mappings are closed after the new ones are made, so that memory that is in both isn't mapped again.
  const auto before = std::exchange(mappings_, {});
  ListPortPeer* peers = peers_.reserve<ListPortPeer>(std::max<std::size_t>(1, served.size()), executor);
  for (std::size_t i = 0; i < served.size(); ++i) {
    const bool is_self = served[i]->rank == context_.rank();
    const auto offset = served[i]->in.first * cards[i].element_bytes;
    peers[i] = {.ghosts = is_self ? ghost_memory_.data + offset : map(cards[i].ghosts),
                .to_odd_epochs = cards[i].to_odd_epochs,
                .arrived = is_self ? arrived() + i : reinterpret_cast<Flag*>(map(cards[i].arrived)),
                .first_entry = served[i]->out.first,
                .entries = served[i]->out.count,
                .rank = served[i]->rank};
  }
  if (!served.empty()) peers_.to_kernels(executor);
}

std::byte* ListPortPlan::map(const SharedRange& range) {
  PeerMappings::Mapped mapped = context_.mappings().map(range);
  mappings_.push_back(std::move(mapped.owner));
  return mapped.data;
}

void ListPortPlan::check() const {
  // Acquires what the kernel wrote before it released `kind`.
  if (fault_ == nullptr || acquire_word(fault_->kind) == ListPortFault::none) return;
  if (fault_->kind == ListPortFault::not_awaited) {
    throw Error(
        ErrorKind::usage,
        fmt::format("kernels of rank {} put a list's ghosts again before any has awaited those of the "
                    "launch before (epoch {})",
                    context_.rank(), fault_->wanted));
  }
  throw Error(ErrorKind::timeout,
              fmt::format("a kernel waited {} ms for rank {} (ListPort, ghosts of epoch {} "
                          "wanted, {} seen)",
                          context_.timeout().count(), fault_->rank, fault_->wanted, fault_->seen));
}

}  // namespace selvage::detail
