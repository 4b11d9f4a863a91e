#include "transfer_plan.hpp"

#include "links/mpi_direct.hpp"
#include "links/mpi_staged.hpp"
#include "links/peer.hpp"
#include "runtime/cards.hpp"
#include "runtime/mappable.hpp"
#include "runtime/wait.hpp"

#include <selvage/comm/options.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>

namespace selvage::detail {
namespace {

constexpr const char* planning = "the construction of a TypedTransfer";

/// The first message to a partner.
struct Greeting {
  std::int32_t sends = 0;
  std::int32_t receives = 0;
  SharedRange flags;
};

/// Shorter blocks in the mean are scattered.
constexpr std::int64_t least_block_bytes = 32;

bool is_on_host(const PairFacts& facts) {
  return !facts.device_memory && refuse_ring(facts).empty();
}
bool is_scattered_on_host(const PairFacts& facts) {
  return is_on_host(facts) && facts.block_bytes < least_block_bytes;
}
bool is_any(const PairFacts&) {
  return true;
}

struct PathCandidate {
  Transport transport;
  std::string (*refuse)(const PairFacts&);
  bool (*suits)(const PairFacts&);  ///< where it isn't forced
  const char* reason;
};
/// In the order of preference. Each element that peers of a host scatter costs a line that the other core holds, twice;
/// a unit's lines go over once.
constexpr std::array path_candidates{
    PathCandidate{Transport::ring, refuse_ring, is_scattered_on_host, "same host, scattered elements"},
    PathCandidate{Transport::peer, refuse_peer, is_any, "same host, zero copy"},
    PathCandidate{Transport::ring, refuse_ring, is_on_host, "same host, by units of host memory"},
    PathCandidate{Transport::mpi_direct, refuse_mpi_direct, is_any, "packed"},
    PathCandidate{Transport::mpi_staged, refuse_mpi_staged, is_any, "packed, works everywhere"},
};

std::int64_t blocks_in(const FlatLayout& layout) {
  std::int64_t blocks = 0;
  for (const CopyRun& run : layout.runs) blocks += run.count;
  return blocks;
}

std::size_t runs_in(const std::vector<TransferPart>& parts) {
  std::size_t runs = 0;
  for (const TransferPart& part : parts) runs += part.layout.runs.size();
  return runs;
}
std::int64_t bytes_in(const std::vector<TransferPart>& parts) {
  std::int64_t bytes = 0;
  for (const TransferPart& part : parts) bytes += part.bytes;
  return bytes;
}

std::unique_ptr<TransferPath> make_path(Transport transport, const TransferParts& parts) {
  if (transport == Transport::peer) return make_peer_transfer(parts);
  if (transport == Transport::ring) return make_ring_transfer(parts);
  return make_mpi_transfer(parts, transport == Transport::mpi_staged);
}

}  // namespace

TransferPlan::TransferPlan(std::shared_ptr<ContextState> context, const Executor& executor,
                           const std::vector<TransferEnd>& sends, const std::vector<TransferEnd>& receives,
                           const TransferOptions& options)
    : context_(std::move(context)),
      on_host_(executor.runs_on_host()),
      layouts_(shared_layouts(*context_, planning)) {
  tags_ = context_->lease_tags(1);
  const int tag = tags_.first();
  context_->all_or_none(planning, [&] {
    context_->require_own_device(executor);
    for (const TransferEnd& end : sends) context_->require_own_device(end.memory);
    for (const TransferEnd& end : receives) context_->require_own_device(end.memory);
    add_ends(sends, receives);
    lay_out_flags(executor);
  });
  greet(tag);
  context_->all_or_none(planning, [&] {
    require_same_number(self_);
    for (const Partner& partner : partners_) require_same_number(partner);
  });
  swap_cards(tag);
  context_->all_or_none(planning, [&] {
    for (const Partner& partner : partners_) require_matching(partner);
    require_matching(self_);
  });
  context_->all_or_none(planning, [&] { make_paths(executor, options, tag); });
}

TransferPlan::~TransferPlan() {
  // A transfer in flight, above all one that failed, leaves messages behind.
  if (in_flight_) context_->mark_broken();
  paths_.clear();
  if (!on_host_) context_->try_barrier();
}

int TransferPlan::device() const {
  return context_->device();
}

Partner& TransferPlan::partner_of(int rank) {
  if (rank < 0 || rank >= context_->size()) {
    throw Error(ErrorKind::usage, fmt::format("rank {} names rank {} for a transfer, of {}", context_->rank(),
                                              rank, context_->size()));
  }
  if (rank == context_->rank()) return self_;
  const auto found = std::ranges::find(partners_, rank, &Partner::rank);
  if (found != partners_.end()) return *found;
  Partner& partner = partners_.emplace_back();
  partner.rank = rank;
  return partner;
}

void TransferPlan::add_ends(const std::vector<TransferEnd>& sends, const std::vector<TransferEnd>& receives) {
  self_.rank = context_->rank();
  for (const TransferEnd& end : sends) partner_of(end.rank).sends.push_back(flatten_end(end, "sends"));
  for (const TransferEnd& end : receives)
    partner_of(end.rank).receives.push_back(flatten_end(end, "receives"));
  std::ranges::sort(partners_, {}, &Partner::rank);
  for (const TransferPart& part : self_.sends) self_.their_sends.push_back(card_of(part));
  for (const TransferPart& part : self_.receives) self_.their_receives.push_back(card_of(part));
}

TransferPart TransferPlan::flatten_end(const TransferEnd& end, const char* what) const {
  const Datatype& type = end.datatype;
  const std::int64_t span = end.memory.span_bytes();
  if (type.size() > 0 && (type.true_lower_bound() < 0 || type.true_upper_bound() > span)) {
    throw Error(
        ErrorKind::usage,
        fmt::format("a datatype that rank {} {} reaches from byte {} to {} of View '{}', which has {}",
                    context_->rank(), what, type.true_lower_bound(), type.true_upper_bound(),
                    end.memory.label, span));
  }
  return {end.memory, layouts_.flatten(type), type.size(), type.signature()};
}

/// Flags lie where this rank's kernels, or its host, poll fastest.
void TransferPlan::lay_out_flags(const Executor& executor) {
  const std::size_t bytes = std::max<std::size_t>(partners_.size(), 1) * sizeof(Flags);
  flags_ = allocate_mappable(*context_, executor, bytes);
  for (std::size_t i = 0; i < partners_.size(); ++i)
    partners_[i].own_flags = reinterpret_cast<const Flags*>(flags_.data) + i;
}

void TransferPlan::greet(int tag) {
  std::vector<CardFor<Greeting>> mine;
  for (const Partner& partner : partners_) {
    const auto kind = on_host_ ? MemoryKind::host : MemoryKind::device;
    const auto flags = context_->name_memory(partner.own_flags, sizeof(Flags), kind);
    mine.push_back({partner.rank,
                    {static_cast<std::int32_t>(partner.sends.size()),
                     static_cast<std::int32_t>(partner.receives.size()), flags.value_or(SharedRange{})}});
  }
  const auto theirs = detail::swap_cards(*context_, tag, mine, "to name this rank in a TypedTransfer");
  for (std::size_t i = 0; i < partners_.size(); ++i) {
    partners_[i].remote_flags = theirs[i].flags;
    partners_[i].their_sends.resize(theirs[i].sends);
    partners_[i].their_receives.resize(theirs[i].receives);
  }
}

void TransferPlan::require_same_number(const Partner& partner) const {
  const auto require = [&](std::size_t sent, int from, std::size_t received, int to) {
    if (sent == received) return;
    throw Error(ErrorKind::usage, fmt::format("rank {} sends {} parts to rank {}, which receives {}", from,
                                              sent, to, received));
  };
  require(partner.sends.size(), context_->rank(), partner.their_receives.size(), partner.rank);
  require(partner.their_sends.size(), partner.rank, partner.receives.size(), context_->rank());
}

PartCard TransferPlan::card_of(const TransferPart& part) const {
  PartCard card;
  const Field& memory = part.memory;
  const auto range =
      context_->name_memory(memory.data, std::max<std::int64_t>(memory.span_bytes(), 1), memory.memory);
  card.memory = range.value_or(SharedRange{});
  card.is_shared = range.has_value() || part.bytes == 0;
  card.kind = memory.memory;
  card.layout = part.layout.range.value_or(SharedRange{});
  card.layout_is_shared = part.layout.range.has_value();
  card.runs = part.layout.runs.size();
  card.blocks = blocks_in(part.layout);
  card.bytes = part.bytes;
  card.signature = part.signature;
  std::strncpy(card.label.data(), memory.label.c_str(), card.label.size() - 1);
  return card;
}

/// One message each way: what this rank sends, then what it receives.
void TransferPlan::swap_cards(int tag) {
  std::vector<CardsFor<PartCard>> mine;
  for (const Partner& partner : partners_) {
    auto& [rank, cards] = mine.emplace_back(CardsFor<PartCard>{.rank = partner.rank, .cards = {}});
    for (const auto* parts : {&partner.sends, &partner.receives}) {
      for (const TransferPart& part : *parts) cards.push_back(card_of(part));
    }
  }
  const auto theirs = detail::swap_cards(*context_, tag, mine, "to describe its ends of a TypedTransfer");
  for (std::size_t i = 0; i < partners_.size(); ++i) {
    const auto sends = static_cast<std::ptrdiff_t>(partners_[i].their_sends.size());
    partners_[i].their_sends.assign(theirs[i].begin(), theirs[i].begin() + sends);
    partners_[i].their_receives.assign(theirs[i].begin() + sends, theirs[i].end());
  }
}

void TransferPlan::require_matching(const Partner& partner) const {
  const auto require = [&](std::size_t part, const PartCard& theirs, const TransferPart& mine,
                           const char* does) {
    if (theirs.bytes == mine.bytes && theirs.signature == mine.signature) return;
    throw Error(
        ErrorKind::usage,
        fmt::format("part {} of a transfer differs: rank {} {} {} elements of {} bytes together, rank {} "
                    "has {} of {}",
                    part, context_->rank(), does, mine.signature.elements, mine.bytes, partner.rank,
                    theirs.signature.elements, theirs.bytes));
  };
  for (std::size_t i = 0; i < partner.sends.size(); ++i)
    require(i, partner.their_receives[i], partner.sends[i], "sends");
  for (std::size_t i = 0; i < partner.receives.size(); ++i)
    require(i, partner.their_sends[i], partner.receives[i], "receives");
}

std::int64_t TransferPlan::mean_block_bytes(const Partner& partner) {
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
  // What is cut by either side's layout is cut.
  const auto add = [&](const TransferPart& mine, const PartCard& theirs) {
    bytes += mine.bytes;
    blocks += std::max(blocks_in(mine.layout), theirs.blocks);
  };
  for (std::size_t i = 0; i < partner.sends.size(); ++i) add(partner.sends[i], partner.their_receives[i]);
  for (std::size_t i = 0; i < partner.receives.size(); ++i) add(partner.receives[i], partner.their_sends[i]);
  return bytes / std::max<std::int64_t>(blocks, 1);
}

PairFacts TransferPlan::facts_about(const Partner& partner) const {
  PairFacts facts;
  facts.rank = partner.rank;
  facts.same_host = context_->machine().same_host(context_->rank(), facts.rank);
  facts.gpu_aware_refusal = context_->gpu_aware_refusal();
  const auto look_at = [&](const PartCard& card, int rank, bool is_written) {
    (card.kind == MemoryKind::device ? facts.device_memory : facts.host_memory) = true;
    if (is_written && !card.is_shared) {
      facts.unshared_field =
          fmt::format("View '{}' of rank {} {}", card.label.data(), rank, why_unmappable(card.kind));
    }
    if (is_written && !card.layout_is_shared) facts.unshared_field = "layouts are not in shared memory";
  };
  for (const PartCard& card : partner.their_sends) look_at(card, partner.rank, false);
  for (const PartCard& card : partner.their_receives) look_at(card, partner.rank, true);
  for (const TransferPart& part : partner.sends) look_at(card_of(part), context_->rank(), false);
  for (const TransferPart& part : partner.receives) look_at(card_of(part), context_->rank(), true);
  facts.block_bytes = mean_block_bytes(partner);
  facts.host_mapping_refusal = context_->mapping_refusal(MemoryKind::host);
  facts.mapping_refusal =
      context_->mapping_refusal(facts.device_memory ? MemoryKind::device : MemoryKind::host);
  return facts;
}

Path TransferPlan::choose_path(const Partner& partner, const TransferOptions& options) const {
  const PairFacts facts = facts_about(partner);
  std::string refusals;
  for (const PathCandidate& candidate : path_candidates) {
    if (options.transport ? candidate.transport != *options.transport : !candidate.suits(facts)) continue;
    const std::string refusal = candidate.refuse(facts);
    if (refusal.empty()) {
      return {candidate.transport, Initiation::stream,
              options.transport ? "forced by the option transport" : candidate.reason + refusals};
    }
    refusals += fmt::format("; not {}: {}", to_string(candidate.transport), refusal);
  }
  throw Error(ErrorKind::unsupported, fmt::format("no typed transfer with rank {}{}", facts.rank, refusals));
}

void TransferPlan::make_paths(const Executor& executor, const TransferOptions& options, int tag) {
  std::map<Transport, std::vector<Partner>> served;
  for (Partner& partner : partners_) {
    const Path path = choose_path(partner, options);
    explanation_ += fmt::format("  rank {}: {}, {} B out in {} runs, {} B in; {}\n", partner.rank,
                                to_string(path.transport), bytes_in(partner.sends), runs_in(partner.sends),
                                bytes_in(partner.receives), path.why);
    served[path.transport].push_back(std::move(partner));
  }
  partners_.clear();
  for (auto& [transport, partners] : served) {
    const TransferParts parts{*context_, executor, std::move(partners), tag, options.ring_unit_bytes};
    paths_.push_back(make_path(transport, parts));
  }
  std::vector<CopyRun> placed;
  for (std::size_t i = 0; i < self_.sends.size(); ++i) {
    const TransferPart& from = self_.sends[i];
    const TransferPart& to = self_.receives[i];
    append_placed(placed, intersect(from.layout.runs, to.layout.runs), from.memory.data, to.memory.data);
  }
  self_copy_ = make_run_copy(executor, placed);
}

void TransferPlan::start(Executor& executor) {
  context_->require_own_device(executor);
  if (in_flight_) throw Error(ErrorKind::usage, "a TypedTransfer is started again before finish()");
  in_flight_ = true;
  ++epoch_;
  for (const auto& path : paths_) path->start({executor, epoch_});
  self_copy_->enqueue(executor);
}

void TransferPlan::finish(Executor& executor) {
  context_->require_own_device(executor);
  if (!in_flight_) throw Error(ErrorKind::usage, "a TypedTransfer is finished that was not started");
  const TransferStep step{executor, epoch_};
  Deadline deadline(context_->timeout());
  Backoff backoff(context_->yields());
  while (true) {
    bool done = true;
    for (const auto& path : paths_) done = path->progress(step) && done;
    if (done) break;
    if (deadline.passed()) throw_late(step);
    backoff.pause();
  }
  in_flight_ = false;
}

void TransferPlan::throw_late(const TransferStep& step) const {
  std::string late;
  for (const auto& path : paths_) {
    const std::string some = path->describe_late(step);
    if (!some.empty()) late += (late.empty() ? "" : ", ") + some;
  }
  throw Error(ErrorKind::timeout,
              fmt::format("a typed transfer waited {} ms for {}", context_->timeout().count(), late));
}

void TransferPlan::check() const {
  try {
    for (const auto& path : paths_) path->check();
  } catch (const Error&) {
    context_->mark_broken();
    throw;
  }
}

std::string TransferPlan::explain() const {
  return fmt::format("typed transfer of rank {}: {} B to itself\n{}", context_->rank(), bytes_in(self_.sends),
                     explanation_);
}

}  // namespace selvage::detail
