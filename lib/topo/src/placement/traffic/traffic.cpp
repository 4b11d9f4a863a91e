#include "placement/checked.hpp"

#include <selvage/error.hpp>
#include <selvage/topo/traffic.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace selvage::topo {
namespace {

void check_rank(const char* what, int rank, int ranks) {
  if (rank >= 0 && rank < ranks) return;
  throw Error(ErrorKind::input, fmt::format("{} {} of {} ranks", what, rank, ranks));
}

void check_histogram(const char* memory, const std::vector<std::uint64_t>& histogram) {
  if (histogram.empty() || histogram.size() == TrafficFacts::histogram_size) return;
  throw Error(ErrorKind::input, fmt::format("a {} histogram of {} numbers instead of {}", memory,
                                            histogram.size(), TrafficFacts::histogram_size));
}

void add(Amount& sum, const Amount& more) {
  sum.bytes = checked_sum(sum.bytes, more.bytes, "bytes between two ranks");
  sum.messages = checked_sum(sum.messages, more.messages, "messages between two ranks");
}

bool is_empty(const TrafficEntry& entry) {
  return entry.host == Amount{} && entry.device == Amount{};
}

void merge(std::vector<TrafficEntry>& entries) {
  const auto pair = [](const TrafficEntry& entry) { return std::tuple(entry.from, entry.to); };
  const auto is_before = [&](const auto& a, const auto& b) { return pair(a) < pair(b); };
  if (!std::ranges::is_sorted(entries, is_before)) std::ranges::sort(entries, is_before);
  std::size_t kept = 0;
  for (const TrafficEntry& entry : entries) {
    if (is_empty(entry)) continue;
    if (kept > 0 && pair(entries[kept - 1]) == pair(entry)) {
      add(entries[kept - 1].host, entry.host);
      add(entries[kept - 1].device, entry.device);
    } else {
      entries[kept++] = entry;
    }
  }
  entries.resize(kept);
}

}  // namespace

Traffic::Traffic(int ranks, std::vector<TrafficEntry> entries, TrafficFacts facts)
    : ranks_(ranks), entries_(std::move(entries)), facts_(std::move(facts)) {
  if (ranks < 0 || ranks > max_ranks) {
    throw Error(ErrorKind::input, fmt::format("traffic of {} ranks; 0 to {} are possible", ranks, max_ranks));
  }
  for (const TrafficEntry& entry : entries_) {
    check_rank("sender", entry.from, ranks);
    check_rank("receiver", entry.to, ranks);
  }
  check_histogram("host", facts_.host_histogram);
  check_histogram("device", facts_.device_histogram);
  merge(entries_);
  first_.assign(static_cast<std::size_t>(ranks) + 1, 0);
  for (const TrafficEntry& entry : entries_) ++first_[entry.from + 1];
  for (int rank = 0; rank < ranks; ++rank) first_[rank + 1] += first_[rank];
}

std::span<const TrafficEntry> Traffic::sent_by(int rank) const {
  if (rank < 0 || rank >= ranks_) {
    throw Error(ErrorKind::usage, fmt::format("rank {} of {}", rank, ranks_));
  }
  return {entries_.data() + first_[rank], entries_.data() + first_[rank + 1]};
}

std::uint64_t Traffic::total_bytes() const {
  std::uint64_t total = 0;
  for (const TrafficEntry& entry : entries_) {
    if (entry.from == entry.to) continue;
    total = checked_sum(total, entry.host.bytes, "the bytes of all ranks");
    total = checked_sum(total, entry.device.bytes, "the bytes of all ranks");
  }
  return total;
}

Traffic operator+(const Traffic& a, const Traffic& b) {
  if (a.rank_count() != b.rank_count()) {
    throw Error(ErrorKind::input,
                fmt::format("traffic of {} ranks and of {} ranks together", a.rank_count(), b.rank_count()));
  }
  std::vector<TrafficEntry> entries = a.entries();
  entries.insert(entries.end(), b.entries().begin(), b.entries().end());
  return Traffic(a.rank_count(), std::move(entries));
}

}  // namespace selvage::topo
