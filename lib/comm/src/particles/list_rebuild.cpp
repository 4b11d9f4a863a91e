// Sets new lists of a ListPlan: checks them, groups them by rank, and finds out what other ranks will send.
#include "list_plan.hpp"
#include "runtime/context_state.hpp"

#include <selvage/counted.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace selvage::detail {

void ListPlan::rebuild(Executor& executor, const ListSource& source, std::int64_t owned) {
  std::optional<Replanning> replanning;
  if (std::exchange(has_lists_, true)) replanning.emplace(*context_);
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
    // Ranks that shared no ghosts may have made other calls, and may share some now: all go on with the same epoch.
    try {
      epoch_ =
          static_cast<std::uint64_t>(context_->largest_or_none(fmt::format("a rebuild of a {}", name()), [&] {
            grouped = group(executor, source, owned);
            return static_cast<std::int64_t>(
                std::max(epoch_, kernels_ == nullptr ? 0 : kernels_->following_epoch()));
          }));
    } catch (const Error& error) {
      error_.note_agreed(error);
      throw;
    }
    take_over(grouped, owned);
    error_.noting(*context_, [&] { find_senders(executor, grouped); });
  }
  place_arrivals();
  if (kernels_ != nullptr) {
    error_.noting(*context_, [&] {
      kernels_->take_lists(runs_in_kernels(), has_neighbours_ ? kernels_->following_epoch() : epoch_,
                           executor);
    });
  }
}

void ListPlan::require_countable(const ListSource& source, std::int64_t owned) const {
  const int rank = context_->rank();
  if (source.entries() != source.named_ranks()) {
    throw Error(ErrorKind::usage,
                fmt::format("the list of rank {} names {} and {}", rank,
                            counted(source.entries(), "particle"), counted(source.named_ranks(), "rank")));
  }
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (owned < 0 || owned > most || source.entries() >= most) {
    throw Error(ErrorKind::usage, fmt::format("rank {} has {} and a list of {}: {} are the most", rank,
                                              counted(owned, "particle"), source.entries(), most - 1));
  }
}

void ListPlan::require_valid(const ListSource& source, std::int64_t owned, int first_invalid) const {
  if (first_invalid == ListSource::no_entry) return;
  const ListSource::Entry entry = source.entry(first_invalid);
  const int rank = context_->rank();
  const std::string where = purpose_ == Purpose::halo
                                ? fmt::format("entry {} of the list of rank {}", first_invalid, rank)
                                : fmt::format("the new owner of particle {} of rank {}", first_invalid, rank);
  if (entry.rank < 0 || entry.rank >= context_->size())
    throw Error(ErrorKind::usage, fmt::format("{} is rank {}, of {}", where, entry.rank, context_->size()));
  if (entry.id < 0 || entry.id >= owned)
    throw Error(ErrorKind::usage, fmt::format("{} is particle {}, of {}", where, entry.id, owned));
  throw Error(ErrorKind::usage,
              fmt::format("{} is rank {}, which is none of its neighbours", where, entry.rank));
}

/// Waits for the GPU, because only the host can decide which ranks get a bin.
void ListPlan::find_bins(Executor& executor, const ListSource& source, std::int64_t owned) {
  const int size = context_->size();
  named_.reserve<int>(static_cast<std::size_t>(size) + 1, executor);
  source.mark(named_.kernels<int>(), {owned, size, named_.kernels<int>() + size});
  named_.to_host(executor);
  require_valid(source, owned, named_.host<int>()[size]);
  bins_.clear();
  int* bin_of_rank = bin_of_rank_.reserve<int>(static_cast<std::size_t>(size), executor);
  for (int rank = 0; rank < size; ++rank) {
    if (named_.host<int>()[rank] == 0) continue;
    bin_of_rank[rank] = static_cast<int>(bins_.size());
    bins_.push_back(rank);
  }
  bin_of_rank_.to_kernels(executor);
}

/// Waits once for everything that the host must know of a rebuild, and until the last lists are no longer used. Afterwards lists may be used on
/// another instance, the caller may free its Views, and tables for kernels may be overwritten.
ListPlan::Grouped ListPlan::group(Executor& executor, const ListSource& source, std::int64_t owned) {
  require_countable(source, owned);
  if (!has_neighbours_) find_bins(executor, source, owned);
  Grouped grouped{.ranks = bins_, .begins = std::vector<std::int64_t>(bins_.size() + 1, 0)};
  const auto entries = static_cast<std::size_t>(source.entries());
  int* ids = ids_.reserve<int>(entries, executor);
  int* order = order_.reserve<int>(entries, executor);
  if (entries > 0) {
    const ListSource::Bins bins{bin_of_rank_.kernels<int>(), static_cast<int>(bins_.size()), source.runs()};
    int* offsets = offsets_.reserve<int>(bins_.size() * bins.parts, executor);
    begins_.reserve<int>(bins_.size() + 2, executor)[bins_.size() + 1] = ListSource::no_entry;
    begins_.to_kernels(executor);
    int* begins = begins_.kernels<int>();
    const ListSource::Limits limits{owned, context_->size(), begins + bins_.size() + 1};
    source.count(bins, limits, offsets, begins);
    begins_.start_to_host(executor);
    source.place(bins, limits, offsets, ids, order);
  }
  if (kernels_ != nullptr) kernels_->look_at_state(executor);
  executor.fence();
  fenced_for_port_ = true;
  if (entries == 0) return grouped;
  require_valid(source, owned, begins_.host<int>()[bins_.size() + 1]);
  std::copy_n(begins_.host<int>(), bins_.size() + 1, grouped.begins.begin());
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

/// With named neighbours: exchanges a header in each direction, over the link's own path.
void ListPlan::swap_counts(Executor& executor) {
  const ListStep step{executor, nullptr, ListOperation::rebuild, epoch_, &arrivals_};
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

/// In the order of ranks. In a migration the particles of this rank come first.
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
