#pragma once

#include <selvage/comm/detail/kokkos_executor.hpp>
#include <selvage/comm/detail/list_mover.hpp>
#include <selvage/comm/detail/signal.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>

namespace selvage::detail {

/// The list of all particles in their order, without a View.
struct EveryParticle {
  std::int64_t particles;
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t place) const { return place; }
  [[nodiscard]] std::int64_t extent(int) const { return particles; }
};

/// The entries of a list, looked at before they are used.
template <class Ids, class Ranks>
struct CheckedEntries {
  Ids ids;
  Ranks ranks;
  ListSource::Limits limits;

  /// \return the entry's rank; -1: it isn't valid, which is noted
  KOKKOS_FUNCTION std::int64_t rank_of(std::int64_t place) const {
    const auto id = static_cast<std::int64_t>(ids(place));
    const auto rank = static_cast<std::int64_t>(ranks(place));
    if (id >= 0 && id < limits.owned && rank >= 0 && rank < limits.ranks) return rank;
    note(place);
    return -1;
  }
  /// The same of its bin.
  KOKKOS_FUNCTION int bin_of(std::int64_t place, const int* bin_of_rank) const {
    const std::int64_t rank = rank_of(place);
    if (rank < 0) return -1;
    const int bin = bin_of_rank[rank];
    if (bin < 0) note(place);
    return bin;
  }

 private:
  KOKKOS_FUNCTION void note(std::int64_t place) const {
    Kokkos::atomic_min(limits.first_invalid, static_cast<int>(place));
  }
};

struct ClearMarks {
  int* named;
  ListSource::Limits limits;
  KOKKOS_FUNCTION void operator()(std::int64_t rank) const {
    named[rank] = 0;
    if (rank == 0) *limits.first_invalid = ListSource::no_entry;
  }
};
template <class Ids, class Ranks>
struct MarkRank {
  CheckedEntries<Ids, Ranks> entries;
  int* named;
  KOKKOS_FUNCTION void operator()(std::int64_t place) const {
    const std::int64_t rank = entries.rank_of(place);
    if (rank < 0) return;
    int* mark = named + rank;
    if (load_relaxed(*mark) == 0) store_relaxed(*mark, 1);
  }
};

/// So many bins' counters stay in a thread's registers.
inline constexpr int few_bins = 8;

/// One run of places, counted by one thread. offsets[bin * parts + part]
template <class Ids, class Ranks>
struct CountRun {
  CheckedEntries<Ids, Ranks> checked;
  std::int64_t entries;
  ListSource::Bins bins;
  int* offsets;
  KOKKOS_FUNCTION void operator()(std::int64_t part) const {
    bins.bins <= few_bins ? count_few(part) : count_many(part);
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t begin(std::int64_t part) const {
    return entries * part / bins.parts;
  }
  [[nodiscard]] KOKKOS_FUNCTION int bin_of(std::int64_t place) const {
    return checked.bin_of(place, bins.bin_of_rank);
  }
  KOKKOS_FUNCTION void count_few(std::int64_t part) const {
    int counts[few_bins] = {};
    for (std::int64_t place = begin(part); place < begin(part + 1); ++place) {
      const int bin = bin_of(place);
      for (int b = 0; b < few_bins; ++b) counts[b] += bin == b ? 1 : 0;
    }
    for (int b = 0; b < few_bins; ++b) {
      if (b < bins.bins) offsets[static_cast<std::int64_t>(b) * bins.parts + part] = counts[b];
    }
  }
  KOKKOS_FUNCTION void count_many(std::int64_t part) const {
    for (int bin = 0; bin < bins.bins; ++bin) offsets[static_cast<std::int64_t>(bin) * bins.parts + part] = 0;
    for (std::int64_t place = begin(part); place < begin(part + 1); ++place) {
      const std::int64_t bin = bin_of(place);
      if (bin >= 0) ++offsets[bin * bins.parts + part];
    }
  }
};
struct ScanRuns {
  ListSource::Bins bins;
  int* offsets;
  int* begins;
  KOKKOS_FUNCTION void operator()(std::int64_t i, int& sum, bool is_final) const {
    const int counted = offsets[i];
    if (is_final) {
      offsets[i] = sum;
      if (i % bins.parts == 0) begins[i / bins.parts] = sum;
    }
    sum += counted;
    if (is_final && i == static_cast<std::int64_t>(bins.bins) * bins.parts - 1) begins[bins.bins] = sum;
  }
};
/// The same runs once more: equal ranks keep their order.
template <class Ids, class Ranks>
struct PlaceRun {
  CheckedEntries<Ids, Ranks> checked;
  std::int64_t entries;
  ListSource::Bins bins;
  int* offsets;
  int* sorted_ids;
  int* order;
  KOKKOS_FUNCTION void operator()(std::int64_t part) const {
    bins.bins <= few_bins ? place_few(part) : place_many(part);
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t begin(std::int64_t part) const {
    return entries * part / bins.parts;
  }
  [[nodiscard]] KOKKOS_FUNCTION int bin_of(std::int64_t place) const {
    return checked.bin_of(place, bins.bin_of_rank);
  }
  KOKKOS_FUNCTION void put(std::int64_t place, int entry) const {
    sorted_ids[entry] = static_cast<int>(checked.ids(place));
    order[entry] = static_cast<int>(place);
  }
  KOKKOS_FUNCTION void place_few(std::int64_t part) const {
    int next[few_bins] = {};
    for (int b = 0; b < few_bins; ++b) {
      if (b < bins.bins) next[b] = offsets[static_cast<std::int64_t>(b) * bins.parts + part];
    }
    for (std::int64_t place = begin(part); place < begin(part + 1); ++place) {
      const int bin = bin_of(place);
      if (bin < 0) continue;
      int entry = 0;
      for (int b = 0; b < few_bins; ++b) {
        entry = bin == b ? next[b] : entry;
        next[b] += bin == b ? 1 : 0;
      }
      put(place, entry);
    }
  }
  KOKKOS_FUNCTION void place_many(std::int64_t part) const {
    for (std::int64_t place = begin(part); place < begin(part + 1); ++place) {
      const std::int64_t bin = bin_of(place);
      if (bin >= 0) put(place, offsets[bin * bins.parts + part]++);
    }
  }
};

/// Copies one element of a View to the host.
template <class View>
std::int64_t element_of(const View& view, std::int64_t place) {
  typename View::non_const_value_type value{};
  Kokkos::deep_copy(value, Kokkos::subview(view, place));
  return static_cast<std::int64_t>(value);
}
inline std::int64_t element_of(const EveryParticle&, std::int64_t place) {
  return place;
}

/// ListSource of two rank-1 Views of integers. What returns nothing only enqueues.
template <class Space, class Ids, class Ranks>
class KokkosListSource final : public ListSource {
 public:
  KokkosListSource(const Space& space, const Ids& ids, const Ranks& ranks)
      : space_(space), ids_(ids), ranks_(ranks) {}

  [[nodiscard]] std::int64_t entries() const override { return static_cast<std::int64_t>(ids_.extent(0)); }
  [[nodiscard]] std::int64_t named_ranks() const override {
    return static_cast<std::int64_t>(ranks_.extent(0));
  }
  [[nodiscard]] int runs() const override {
    constexpr std::int64_t least_per_run = is_host_space<Space> ? 32 : 8;
    constexpr std::int64_t most_runs = 32768;
    const std::int64_t threads = is_host_space<Space> ? space_.concurrency() : most_runs;
    return static_cast<int>(std::min(threads, entries() / least_per_run + 1));
  }
  [[nodiscard]] Entry entry(std::int64_t place) const override {
    return {element_of(ids_, place), element_of(ranks_, place)};
  }
  void mark(int* named, const Limits& limits) const override {
    Kokkos::parallel_for("comm::clear_marks", range(limits.ranks), ClearMarks{named, limits});
    Kokkos::parallel_for("comm::mark_ranks", range(entries()),
                         MarkRank<Ids, Ranks>{{ids_, ranks_, limits}, named});
  }
  void count(const Bins& bins, const Limits& limits, int* offsets, int* begins) const override {
    Kokkos::parallel_for("comm::count_runs", range(bins.parts),
                         CountRun<Ids, Ranks>{{ids_, ranks_, limits}, entries(), bins, offsets});
    Kokkos::parallel_scan("comm::scan_runs", range(static_cast<std::int64_t>(bins.bins) * bins.parts),
                          ScanRuns{bins, offsets, begins});
  }
  void place(const Bins& bins, const Limits& limits, int* offsets, int* ids, int* order) const override {
    Kokkos::parallel_for("comm::place_runs", range(bins.parts),
                         PlaceRun<Ids, Ranks>{{ids_, ranks_, limits}, entries(), bins, offsets, ids, order});
  }

 private:
  [[nodiscard]] auto range(std::int64_t count) const {
    return Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space_, 0, count);
  }

  Space space_;
  Ids ids_;
  Ranks ranks_;
};

}  // namespace selvage::detail
