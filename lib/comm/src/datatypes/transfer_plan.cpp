#include "transfer_plan.hpp"

#include "runtime/cards.hpp"
#include "runtime/mappable.hpp"
#include "runtime/wait.hpp"
#include "transfer_choice.hpp"

#include <selvage/comm/options.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace selvage::detail {
namespace {

constexpr const char* planning = "the construction of a TypedTransfer";

constexpr std::int32_t none_forced = -1;

/// The first message to a partner.
struct Greeting {
  std::int32_t sends = 0;
  std::int32_t receives = 0;
  std::int32_t transport = none_forced;
  std::int32_t initiation = none_forced;
  SharedRange flags;
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

std::unique_ptr<Link> make_link(Transport transport, const TransferParts& parts) {
  if (transport == Transport::mpi_direct) return make_packed_transfer(parts, Wire::packed);
  if (transport == Transport::mpi_staged) return make_packed_transfer(parts, Wire::staged);
  if (transport == Transport::ring) return make_ring_transfer(parts);
  // Puts need no proxy.
  if (parts.initiation == Initiation::queue) return make_packed_transfer(parts, Wire::mapped);
  return make_peer_transfer(parts);
}

template <class Choice>
std::int32_t number_of(const std::optional<Choice>& forced) {
  return forced ? static_cast<std::int32_t>(*forced) : none_forced;
}
template <class Choice>
std::string_view name_of(std::int32_t forced) {
  return forced == none_forced ? std::string_view("left open") : to_string(static_cast<Choice>(forced));
}

}  // namespace

TransferPlan::TransferPlan(std::shared_ptr<ContextState> context, const Executor& executor,
                           const std::vector<TypedTransfer::End>& sends,
                           const std::vector<TypedTransfer::End>& receives,
                           const TypedTransfer::Options& options)
    : context_(std::move(context)),
      on_host_(executor.runs_on_host()),
      layouts_(shared_layouts(*context_, planning)) {
  tags_ = context_->lease_tags(1);
  const int tag = tags_.first();
  context_->all_or_none(planning, [&] {
    context_->require_own_device(executor);
    for (const TypedTransfer::End& end : sends) context_->require_own_device(end.memory);
    for (const TypedTransfer::End& end : receives) context_->require_own_device(end.memory);
    add_ends(sends, receives);
    lay_out_flags(executor);
  });
  const std::vector<std::string> differences = greet(tag, options);
  context_->all_or_none(planning, [&] {
    for (const std::string& difference : differences) throw Error(ErrorKind::usage, difference);
    require_same_number(self_);
    for (const Partner& partner : partners_) require_same_number(partner);
  });
  swap_cards(tag);
  context_->all_or_none(planning, [&] {
    for (const Partner& partner : partners_) require_matching(partner);
    require_matching(self_);
  });
  // Apart: some links exchange messages when they are made, for which a rank would wait whose partner was refused a path.
  Served served;
  context_->all_or_none(planning, [&] { served = choose_paths(options); });
  context_->all_or_none(planning, [&] { make_links(executor, options, std::move(served), tag); });
}

TransferPlan::~TransferPlan() {
  // A transfer that is underway, or that failed, may leave messages behind.
  if (in_flight_) context_->mark_broken();
  for (const auto& link : links_) link->unmap();
  if (!on_host_) context_->try_barrier();
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

void TransferPlan::add_ends(const std::vector<TypedTransfer::End>& sends,
                            const std::vector<TypedTransfer::End>& receives) {
  self_.rank = context_->rank();
  for (const TypedTransfer::End& end : sends) partner_of(end.rank).sends.push_back(flatten_end(end, "sends"));
  for (const TypedTransfer::End& end : receives)
    partner_of(end.rank).receives.push_back(flatten_end(end, "receives"));
  std::ranges::sort(partners_, {}, &Partner::rank);
  for (const TransferPart& part : self_.sends) self_.their_sends.push_back(card_of(part));
  for (const TransferPart& part : self_.receives) self_.their_receives.push_back(card_of(part));
}

TransferPart TransferPlan::flatten_end(const TypedTransfer::End& end, const char* what) const {
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

/// Flags lie in the memory that this rank's kernels, or its host, poll fastest.
void TransferPlan::lay_out_flags(const Executor& executor) {
  const std::size_t bytes = std::max<std::size_t>(partners_.size(), 1) * sizeof(Flags);
  flags_ = allocate_mappable(*context_, executor, bytes);
  for (std::size_t i = 0; i < partners_.size(); ++i)
    partners_[i].own_flags = reinterpret_cast<const Flags*>(flags_.data) + i;
}

/// \return how partners' options differ from this rank's
std::vector<std::string> TransferPlan::greet(int tag, const TypedTransfer::Options& options) {
  Greeting own;
  own.transport = number_of(options.transport);
  own.initiation = number_of(options.initiation);
  std::vector<CardFor<Greeting>> mine;
  for (const Partner& partner : partners_) {
    const auto kind = on_host_ ? MemoryKind::host : MemoryKind::device;
    const auto flags = context_->name_memory(partner.own_flags, sizeof(Flags), kind);
    own.sends = static_cast<std::int32_t>(partner.sends.size());
    own.receives = static_cast<std::int32_t>(partner.receives.size());
    own.flags = flags.value_or(SharedRange{});
    mine.push_back({partner.rank, own});
  }
  const auto theirs = detail::swap_cards(*context_, tag, mine, "to name this rank in a TypedTransfer");
  std::vector<std::string> differences;
  for (std::size_t i = 0; i < partners_.size(); ++i) {
    partners_[i].remote_flags = theirs[i].flags;
    partners_[i].their_sends.resize(theirs[i].sends);
    partners_[i].their_receives.resize(theirs[i].receives);
    const auto compare = [&](const char* option, std::string_view here, std::string_view there) {
      if (here == there) return;
      differences.push_back(fmt::format("option {} of a TypedTransfer is {} on rank {}, {} on rank {}",
                                        option, here, context_->rank(), there, partners_[i].rank));
    };
    compare("transport", name_of<Transport>(own.transport), name_of<Transport>(theirs[i].transport));
    compare("initiation", name_of<Initiation>(own.initiation), name_of<Initiation>(theirs[i].initiation));
  }
  return differences;
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

/// Exchanges one message in each direction: the parts that this rank sends, then those that it receives.
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
  // A block ends where either layout ends one.
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
  facts.waiting_kernels_refusal = context_->waiting_kernels_refusal(facts.rank);
  facts.threads_refusal = context_->threads_refusal();
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
  facts.bytes = std::max(bytes_in(partner.sends), bytes_in(partner.receives));
  facts.host_mapping_refusal = context_->mapping_refusal(MemoryKind::host);
  facts.mapping_refusal =
      context_->mapping_refusal(facts.device_memory ? MemoryKind::device : MemoryKind::host);
  return facts;
}

TransferPlan::Served TransferPlan::choose_paths(const TypedTransfer::Options& options) {
  Served served;
  for (Partner& partner : partners_) {
    const Path path = choose_transfer_path(facts_about(partner), options, on_host_);
    explanation_ +=
        fmt::format("  rank {}: {}, {}, {} B out in {} runs, {} B in; {}\n", partner.rank,
                    to_string(path.transport), to_string(path.initiation), bytes_in(partner.sends),
                    runs_in(partner.sends), bytes_in(partner.receives), path.why);
    served[{path.transport, path.initiation}].push_back(std::move(partner));
  }
  partners_.clear();
  return served;
}

void TransferPlan::make_links(const Executor& executor, const TypedTransfer::Options& options, Served served,
                              int tag) {
  for (auto& [path, partners] : served) {
    const auto [transport, initiation] = path;
    links_.push_back(make_link(transport, {.context = *context_,
                                           .executor = executor,
                                           .partners = std::move(partners),
                                           .initiation = initiation,
                                           .tag = tag,
                                           .ring_unit_bytes = options.ring_unit_bytes}));
  }
  std::vector<CopyRun> placed;
  for (std::size_t i = 0; i < self_.sends.size(); ++i) {
    const TransferPart& from = self_.sends[i];
    const TransferPart& to = self_.receives[i];
    append_placed(placed, intersect(from.layout.runs, to.layout.runs), from.memory.data, to.memory.data);
  }
  self_copy_ = make_run_copy(executor, placed);
}

/// The step of a transfer: one field, always with credits.
Step TransferPlan::step_of(Executor& executor) const {
  return {.executor = executor,
          .epoch = epoch_,
          .fields = 1,
          .reverse = false,
          .guarded = true,
          .at_once = false};
}

void TransferPlan::start(Executor& executor) {
  context_->require_own_device(executor);
  error_.require_none("a TypedTransfer");
  if (in_flight_) throw Error(ErrorKind::usage, "a TypedTransfer is started again before finish()");
  in_flight_ = true;
  ++epoch_;
  error_.noting(*context_, [&] {
    for (const auto& link : links_) link->start(step_of(executor));
    self_copy_->enqueue(executor);
  });
}

void TransferPlan::finish(Executor& executor) {
  context_->require_own_device(executor);
  if (!in_flight_) throw Error(ErrorKind::usage, "a TypedTransfer is finished that was not started");
  error_.noting(*context_, [&] { await_end(step_of(executor)); });
  in_flight_ = false;
}

void TransferPlan::await_end(const Step& step) {
  if (poll_until(context_->timeout(), context_->yields(), [&] { return progress_all(links_, step); })) return;
  throw Error(ErrorKind::timeout, fmt::format("a typed transfer waited {} ms for {}",
                                              context_->timeout().count(), describe_late(links_, step)));
}

void TransferPlan::check() {
  error_.noting(*context_, [&] {
    for (const auto& link : links_) link->check();
  });
}

std::string TransferPlan::explain() const {
  return fmt::format("typed transfer of rank {}: {} B to itself\n{}", context_->rank(), bytes_in(self_.sends),
                     explanation_);
}

}  // namespace selvage::detail
