#include "list_plan.hpp"

#include "conservation.hpp"
#include "proxy/proxy.hpp"
#include "runtime/context_state.hpp"
#include "runtime/wait.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <utility>

namespace selvage::detail {
namespace {

/// Tags: of a plan's messages, of what connects peers and opens ports, and of sparse exchanges.
constexpr int particles_tag = 0;
constexpr int connect_tag = 1;
constexpr int port_tag = 2;
constexpr int sparse_tag = 3;
constexpr int tags_per_list = sparse_tag + tags_per_sparse_exchange;

}  // namespace

ListPlan::ListPlan(std::shared_ptr<ContextState> context, Executor& executor,
                   const ListHalo::Options& options, Purpose purpose)
    : context_(std::move(context)), purpose_(purpose), on_host_(executor.runs_on_host()) {
  const std::string construction = fmt::format("the construction of a {}", name());
  tags_ = context_->lease_tags(tags_per_list);
  context_->all_or_none(construction, [&] {
    context_->require_own_device(executor);
    transport_ = forced_transport(options.transport, context_->options());
    initiation_ = forced_initiation(options.initiation, context_->options());
  });
  require_same_everywhere(executor, options.neighbours.has_value());
  self_path_ = make_self_lists();
  std::vector<ListLink*> self{&link_of(context_->rank())};
  self_path_->connect(self, executor);
  if (may_use_kernels()) {
    auto kernels =
        make_kernel_lists(*context_, tags_.first() + connect_tag, tags_.first() + particles_tag, on_host_);
    kernels->connect_self(*self.front(), executor);
    kernels_ = kernels.get();
    paths_[Transport::peer] = std::move(kernels);
  }
  // Its first use is collective.
  if (is_queued()) static_cast<void>(proxy_of(*context_));
  if (options.neighbours) name_neighbours(executor, *options.neighbours);
}

/// On GPUs this is the only way. On hosts it is used only if the user asks for it, because waiting kernels would occupy cores that other
/// threads need.
bool ListPlan::may_use_kernels() const {
  const bool may_be_peers = transport_.choice.value_or(Transport::peer) == Transport::peer;
  return may_be_peers && !is_queued() && (!on_host_ || initiation_.choice == Initiation::kernel);
}

/// An operation that is underway, or that failed, may leave messages behind.
ListPlan::~ListPlan() {
  if (in_flight_) context_->mark_broken();
  port_.reset();
  paths_.clear();
  if (!on_host_) context_->try_barrier();
}

void ListPlan::require_conserved() const {
  const Replanning replanning(*context_);
  detail::require_conserved(*context_, index_.owned, index_.ghosts);
}

void ListPlan::require_same_everywhere(const Executor& executor, bool has_neighbours) {
  const auto value = [](const auto& choice) { return choice ? static_cast<int>(*choice) : -1; };
  const std::vector<std::pair<const char*, int>> arguments{
      {"option transport", value(transport_.choice)},
      {"option initiation", value(initiation_.choice)},
      {"option neighbours, given or not", has_neighbours ? 1 : 0},
      {"kind of execution space, host or not", executor.runs_on_host() ? 1 : 0}};
  std::vector<int> values;
  for (const auto& argument : arguments) values.push_back(argument.second);
  const auto ranges = context_->extremes(values, fmt::format("the construction of a {}", name()));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (ranges[i].smallest == ranges[i].largest) continue;
    throw Error(ErrorKind::usage,
                fmt::format("ranks disagree on the {} of one {}: rank {} and rank {}", arguments[i].first,
                            name(), ranges[i].smallest_rank, ranges[i].largest_rank));
  }
}

void ListPlan::name_neighbours(Executor& executor, std::vector<int> neighbours) {
  has_neighbours_ = true;
  std::ranges::sort(neighbours);
  const auto [first, last] = std::ranges::unique(neighbours);
  neighbours.erase(first, last);
  std::erase(neighbours, context_->rank());
  require_mutual(neighbours);
  connect(executor, neighbours);
  bins_.clear();
  for (const auto& link : links_) bins_.push_back(link->rank);
  int* bin_of_rank = bin_of_rank_.reserve<int>(static_cast<std::size_t>(context_->size()), executor);
  std::fill_n(bin_of_rank, context_->size(), -1);
  for (std::size_t bin = 0; bin < bins_.size(); ++bin) bin_of_rank[bins_[bin]] = static_cast<int>(bin);
  bin_of_rank_.to_kernels(executor);
  executor.fence();
}

void ListPlan::require_mutual(const std::vector<int>& neighbours) {
  const std::string construction = fmt::format("the construction of a {}", name());
  context_->all_or_none(construction, [&] {
    for (const int rank : neighbours) {
      if (rank >= 0 && rank < context_->size()) continue;
      throw Error(ErrorKind::usage, fmt::format("rank {} names rank {} as its neighbour, of {}",
                                                context_->rank(), rank, context_->size()));
    }
  });
  std::vector<SparseNumber> greetings;
  for (const int rank : neighbours) greetings.push_back({rank, 0});
  const auto received = exchange_sparsely(greetings, "to name its neighbours");
  context_->all_or_none(construction, [&] {
    for (const SparseNumber& greeting : received) {
      if (std::ranges::binary_search(neighbours, greeting.rank)) continue;
      throw Error(ErrorKind::usage,
                  fmt::format("rank {} names rank {} as its neighbour, but not the other way round",
                              greeting.rank, context_->rank()));
    }
  });
}

std::vector<SparseNumber> ListPlan::exchange_sparsely(const std::vector<SparseNumber>& numbers,
                                                      std::string_view purpose) {
  return sparse_exchange(*context_, tags_.first() + sparse_tag, sparse_rounds_++, numbers, purpose);
}

ListLink& ListPlan::link_of(int rank) {
  const auto found = std::ranges::lower_bound(links_, rank, {}, [](const auto& link) { return link->rank; });
  if (found != links_.end() && (*found)->rank == rank) return **found;
  return **links_.insert(found, std::make_unique<ListLink>(ListLink{.rank = rank, .out = {}, .in = {}}));
}

Path ListPlan::choose_path(int rank, bool on_host) const {
  PairFacts facts;
  facts.rank = rank;
  facts.same_host = context_->machine().same_host(context_->rank(), rank);
  facts.mapping_refusal = context_->mapping_refusal(on_host ? MemoryKind::host : MemoryKind::device);
  facts.gpu_aware_refusal = context_->gpu_aware_refusal();
  facts.threads_refusal = context_->threads_refusal();
  (on_host ? facts.host_memory : facts.device_memory) = true;
  return choose_list_path(facts, transport_, initiation_, on_host);
}

/// Collective over the context's ranks: no rank continues, and frees memory that others map, before all have come here.
void ListPlan::connect(Executor& executor, const std::vector<int>& ranks) {
  context_->all_or_none(fmt::format("the construction of a {}", name()), [&] {
    std::optional<Error> refusal;
    std::map<Transport, std::vector<ListLink*>> served;
    for (const int rank : ranks) {
      try {
        const Path path = choose_path(rank, on_host_);
        served[path.transport].push_back(&link_of(rank));
        fences_first_ = fences_first_ || path.initiation == Initiation::host;
        chosen_[rank] = path;
      } catch (const Error& error) {
        // The other rank refuses too. Ranks that don't refuse wait for this rank's cards.
        if (!refusal) refusal = error;
      }
    }
    for (auto& [transport, links] : served) path_for(transport, executor).connect(links, executor);
    if (refusal) throw Error(*refusal);
  });
}

ListPath& ListPlan::path_for(Transport transport, Executor& executor) {
  std::unique_ptr<ListPath>& path = paths_[transport];
  if (path) return *path;
  const bool staged = transport == Transport::mpi_staged;
  if (is_queued()) {
    auto queue = make_queue_lists(*context_, tags_.first() + particles_tag, on_host_, staged);
    queue->connect_self(link_of(context_->rank()), executor);
    kernels_ = queue.get();
    path = std::move(queue);
    return *path;
  }
  path = transport == Transport::peer ? make_peer_lists(*context_, tags_.first() + connect_tag)
                                      : make_mpi_lists(*context_, tags_.first() + particles_tag, staged);
  return *path;
}

void ListPlan::begin(Executor& executor) {
  if (error_.has_come()) error_.require_none(fmt::format("a {}", name()));
  if (in_flight_) {
    throw Error(ErrorKind::usage, fmt::format("the {} of epoch {} is still in flight: finish it first",
                                              to_string(*in_flight_), epoch_));
  }
  context_->require_own_device(executor);
  check();
  ++epoch_;
}

void ListPlan::check() {
  if (kernels_ == nullptr || error_.has_come()) return;
  error_.noting(*context_, [&] {
    kernels_->check();
    if (port_) port_->check();
  });
}

bool ListPlan::may_open_port() const {
  return kernels_ != nullptr && !is_queued() && context_->machine().host_count() == 1 &&
         context_->mapping_refusal(on_host_ ? MemoryKind::host : MemoryKind::device).empty();
}

ListPortTable ListPlan::open_port(Executor& executor, std::size_t element_bytes) {
  if (!may_open_port()) {
    throw Error(
        ErrorKind::unsupported,
        "kernels can't put a list's ghosts here: that takes ranks of one host whose kernels reach each "
        "other's memory, by the peer transport, and on hosts the initiation kernel");
  }
  begin(executor);
  // Kernels may still use the last table; a rebuild has waited for them.
  if (!std::exchange(fenced_for_port_, false)) executor.fence();
  ListPortTable table;
  error_.noting(*context_, [&] {
    std::optional<Replanning> replanning;
    if (port_) {
      replanning.emplace(*context_);
    } else {
      port_ = std::make_unique<ListPortPlan>(*context_, tags_.first() + port_tag, on_host_);
    }
    table = port_->open(links_, index_, element_bytes, executor);
  });
  return table;
}

void ListPlan::begin(Executor& executor, const ListMover& mover, ListOperation operation) {
  begin(executor);
  const std::int64_t needed =
      purpose_ == Purpose::halo ? index_.owned + index_.ghosts : std::max(index_.owned, index_.ghosts);
  if (const std::string view = mover.too_small(needed); !view.empty()) {
    fail(executor,
         Error(ErrorKind::usage,
               fmt::format("{} on rank {}; {} {} and {} {} need {}", view, context_->rank(), index_.owned,
                           purpose_ == Purpose::halo ? "owned" : "before", index_.ghosts,
                           purpose_ == Purpose::halo ? "ghosts" : "after it", needed)));
  }
  in_flight_ = operation;
  arrivals_.clear();
  if (fences_first_) executor.fence();
}

void ListPlan::start(Executor& executor, ListMover& mover, ListOperation operation) {
  begin(executor, mover, operation);
  const ListStep step{executor, &mover, operation, epoch_, &arrivals_};
  error_.noting(*context_, [&] {
    if (!runs_in_kernels()) self_path_->start(step);
    for (const auto& [transport, path] : paths_) path->start(step);
    for (const auto& [transport, path] : paths_) path->put(step);
    if (!runs_in_kernels()) self_path_->put(step);
  });
}

void ListPlan::finish(Executor& executor, ListMover& mover) {
  if (!in_flight_)
    throw Error(ErrorKind::usage, fmt::format("a {} is finished that was not started", name()));
  const ListStep step{executor, &mover, *in_flight_, epoch_, &arrivals_};
  if (runs_in_kernels()) {
    error_.noting(*context_, [&] { kernels_->take(step); });
    end_in_kernels(step);
  } else {
    run(step);
    in_flight_.reset();
  }
}

void ListPlan::exchange(Executor& executor, ListMover& mover, ListOperation operation) {
  if (!runs_in_kernels()) {
    start(executor, mover, operation);
    finish(executor, mover);
    return;
  }
  begin(executor, mover, operation);
  const ListStep step{executor, &mover, operation, epoch_, &arrivals_};
  error_.noting(*context_, [&] {
    kernels_->start(step);
    kernels_->exchange(step);
  });
  end_in_kernels(step);
}

/// On execution spaces that complete work at once, kernels have ended.
void ListPlan::end_in_kernels(const ListStep& step) {
  if (fences_first_) step.executor.fence();
  if (fences_first_ || on_host_) check();
  in_flight_.reset();
}

std::chrono::milliseconds ListPlan::limit_of(const ListStep& step) const {
  return step.operation == ListOperation::rebuild ? context_->planning_timeout() : context_->timeout();
}

void ListPlan::run(const ListStep& step) {
  error_.noting(*context_, [&] {
    if (!poll_until(limit_of(step), context_->yields(), [&] { return poll(step); })) {
      throw Error(ErrorKind::timeout,
                  fmt::format("a list's {} waited {} ms for {}", to_string(step.operation),
                              limit_of(step).count(), describe_late(std::views::values(paths_), step)));
    }
    unpack(step);
  });
}

/// Everything is packed before anything is unpacked, because a migration unpacks to the memory from which it packs.
bool ListPlan::poll(const ListStep& step) {
  bool done = true;
  for (const auto& [transport, path] : paths_) done = path->put(step) && done;
  if (!done) return false;
  self_path_->progress(step);
  done = progress_all(std::views::values(paths_), step);
  // Blocks that arrive early are unpacked while others are underway. Exceptions: additions, whose order is fixed, and GPUs, where one kernel
  // unpacks all blocks.
  if (on_host_ && step.operation != ListOperation::scatter_add) unpack(step);
  return done;
}

void ListPlan::unpack(const ListStep& step) {
  if (!step.moves_particles() || arrivals_.empty()) return;
  std::ranges::sort(arrivals_, {}, [](const ListArrival& arrival) { return arrival.link->rank; });
  parts_.clear();
  for (const ListArrival& arrival : arrivals_) parts_.push_back(arrival.part);
  step.mover->unpack(parts_);
  arrivals_.clear();
}

void ListPlan::fail(Executor& executor, const Error& error) {
  error_.note(*context_, error);
  for (const auto& [transport, path] : paths_)
    path->fail({executor, nullptr, ListOperation::failure, epoch_, nullptr, &error});
  throw error;
}

std::string ListPlan::explain() const {
  std::string text =
      fmt::format("list of rank {}: {} owned, {} entries, {} {}, {}\n", context_->rank(), index_.owned,
                  index_.entries, index_.ghosts, purpose_ == Purpose::halo ? "ghosts" : "after it",
                  has_neighbours_ ? "neighbours named" : "neighbours found at each rebuild");
  for (const auto& link : links_) {
    if (link->rank == context_->rank()) {
      if (link->out.count > 0)
        text += fmt::format("  rank {}: copy, {} entries; this rank itself\n", link->rank, link->out.count);
      continue;
    }
    // There is no path if a rebuild has failed.
    if (!chosen_.contains(link->rank)) continue;
    const Path& path = chosen_.at(link->rank);
    text += fmt::format("  rank {}: {}, {}, {} out, {} in; {}\n", link->rank, to_string(path.transport),
                        to_string(path.initiation), link->out.count, link->in.count, path.why);
  }
  return text;
}

}  // namespace selvage::detail
