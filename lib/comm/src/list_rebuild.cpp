// How a ListPlan takes new lists: checks them, groups them by rank, and learns what others will send.
#include "context_state.hpp"
#include "list_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace selvage::detail {

void ListPlan::rebuild(Executor& executor, const ListSource& source, std::int64_t owned) {
  begin(executor);
  Grouped grouped;
  if (has_neighbours_) {
    try {
      grouped = group(executor, source, owned);
    } catch (const Error& error) {
      fail(executor, error);
    }
    take_over(grouped, owned);
    swap_counts(executor);
  } else {
    context_->all_or_none(fmt::format("a rebuild of a {}", name()),
                          [&] { grouped = group(executor, source, owned); });
    take_over(grouped, owned);
    try {
      find_senders(executor, grouped);
    } catch (const Error& error) {
      note_failure(error);
      throw;
    }
  }
  place_arrivals();
  if (kernels_ != nullptr) kernels_->look_at_state(executor);
  // Lists may be used on another instance, and the caller's go.
  executor.fence();
  fenced_for_port_ = true;
  if (kernels_ != nullptr) noting_failure([&] { kernels_->take_lists(runs_in_kernels(), executor); });
}

void ListPlan::require_valid(const ListSource& source, std::int64_t owned) const {
  const int* bins = has_neighbours_ ? bin_of_rank_.kernels<int>() : nullptr;
  const int rank = context_->rank();
  if (source.entries() != source.named_ranks()) {
    throw Error(ErrorKind::usage, fmt::format("the list of rank {} names {} particles and {} ranks", rank,
                                              source.entries(), source.named_ranks()));
  }
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (owned < 0 || owned > most || source.entries() > most) {
    throw Error(ErrorKind::usage, fmt::format("rank {} has {} particles and a list of {}: {} are the most",
                                              rank, owned, source.entries(), most));
  }
  const std::int64_t place = source.first_invalid(owned, context_->size(), bins);
  if (place == source.entries()) return;
  const ListSource::Entry entry = source.entry(place);
  const std::string where = purpose_ == Purpose::halo
                                ? fmt::format("entry {} of the list of rank {}", place, rank)
                                : fmt::format("the new owner of particle {} of rank {}", place, rank);
  if (entry.rank < 0 || entry.rank >= context_->size())
    throw Error(ErrorKind::usage, fmt::format("{} is rank {}, of {}", where, entry.rank, context_->size()));
  if (entry.id < 0 || entry.id >= owned)
    throw Error(ErrorKind::usage, fmt::format("{} is particle {}, of {}", where, entry.id, owned));
  throw Error(ErrorKind::usage,
              fmt::format("{} is rank {}, which is none of its neighbours", where, entry.rank));
}

std::vector<int> ListPlan::named_ranks(Executor& executor, const ListSource& source) {
  const int size = context_->size();
  named_.reserve<int>(static_cast<std::size_t>(size), executor);
  source.mark(named_.kernels<int>(), size);
  named_.to_host(executor);
  std::vector<int> ranks;
  for (int rank = 0; rank < size; ++rank) {
    if (named_.host<int>()[rank] != 0) ranks.push_back(rank);
  }
  return ranks;
}

ListPlan::Grouped ListPlan::group(Executor& executor, const ListSource& source, std::int64_t owned) {
  require_valid(source, owned);
  if (!has_neighbours_) {
    bins_ = named_ranks(executor, source);
    int* bin_of_rank = bin_of_rank_.reserve<int>(static_cast<std::size_t>(context_->size()), executor);
    for (std::size_t bin = 0; bin < bins_.size(); ++bin) bin_of_rank[bins_[bin]] = static_cast<int>(bin);
    bin_of_rank_.to_kernels(executor);
  }
  Grouped grouped{.ranks = bins_, .begins = std::vector<std::int64_t>(bins_.size() + 1, 0)};
  const auto entries = static_cast<std::size_t>(source.entries());
  int* ids = ids_.reserve<int>(entries, executor);
  int* order = order_.reserve<int>(entries, executor);
  if (entries == 0) return grouped;
  const ListSource::Bins bins{bin_of_rank_.kernels<int>(), static_cast<int>(bins_.size()), source.runs()};
  int* offsets = offsets_.reserve<int>(bins_.size() * bins.parts, executor);
  begins_.reserve<int>(bins_.size() + 1, executor);
  source.count(bins, offsets, begins_.kernels<int>());
  begins_.to_host(executor);
  std::copy_n(begins_.host<int>(), bins_.size() + 1, grouped.begins.begin());
  source.place(bins, offsets, ids, order);
  return grouped;
}

void ListPlan::take_over(const Grouped& grouped, std::int64_t owned) {
  index_.ids = ids_.as<int>();
  index_.order = order_.as<int>();
  index_.entries = grouped.begins.back();
  index_.owned = owned;
  index_.is_ordered_by_particle = false;
  for (const auto& link : links_) link->out = link->in = {};
  for (std::size_t i = 0; i < grouped.ranks.size(); ++i)
    link_of(grouped.ranks[i]).out = {grouped.begins[i], grouped.begins[i + 1] - grouped.begins[i]};
  ListLink& self = link_of(context_->rank());
  self.in.count = self.out.count;
}

/// Between neighbours that are known: a header each way, over the link's own path.
void ListPlan::swap_counts(Executor& executor) {
  const ListStep step{executor, nullptr, ListOperation::rebuild, epoch_};
  arrivals_.clear();
  in_flight_ = step.operation;
  for (const auto& [transport, path] : paths_) path->start(step);
  run(step);
  in_flight_.reset();
  for (const ListArrival& arrival : arrivals_) arrival.link->in.count = arrival.part.count;
}

void ListPlan::find_senders(Executor& executor, const Grouped& grouped) {
  std::vector<SparseNumber> numbers;
  std::vector<int> others;
  for (std::size_t i = 0; i < grouped.ranks.size(); ++i) {
    if (grouped.ranks[i] == context_->rank()) continue;
    numbers.push_back({grouped.ranks[i], grouped.begins[i + 1] - grouped.begins[i]});
    others.push_back(grouped.ranks[i]);
  }
  const auto received = exchange_sparsely(numbers, fmt::format("to rebuild its {}", name()));
  for (const SparseNumber& number : received) {
    link_of(number.rank).in.count = number.value;
    others.push_back(number.rank);
  }
  std::ranges::sort(others);
  const auto [first, last] = std::ranges::unique(others);
  others.erase(first, last);
  std::erase_if(others, [&](int rank) { return chosen_.contains(rank); });
  connect(executor, others);
}

/// In the order of ranks; in a migration this rank's own come first.
void ListPlan::place_arrivals() {
  std::int64_t placed = 0;
  const auto place = [&](ListLink& link) {
    link.in.first = placed;
    placed += link.in.count;
  };
  const int self = context_->rank();
  if (purpose_ == Purpose::migration) place(link_of(self));
  for (const auto& link : links_) {
    if (purpose_ == Purpose::halo || link->rank != self) place(*link);
  }
  index_.ghosts = placed;
  index_.ghost_begin = purpose_ == Purpose::halo ? index_.owned : 0;
}

}  // namespace selvage::detail
