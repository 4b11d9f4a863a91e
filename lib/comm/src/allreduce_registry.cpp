#include "allreduce_registry.hpp"

#include "allreduces/btb.hpp"
#include "allreduces/gsb.hpp"
#include "allreduces/hierarchical.hpp"
#include "allreduces/mpi_two_shot.hpp"
#include "allreduces/one_shot.hpp"
#include "allreduces/pipelined.hpp"
#include "allreduces/recursive_doubling.hpp"
#include "allreduces/ring.hpp"
#include "allreduces/two_shot.hpp"
#include "context_state.hpp"
#include "device_allreduce.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace selvage::detail {
namespace {

std::string refuse_mapped(const AllreduceFacts& facts, const AllreduceOptions& /*options*/ = {}) {
  if (!facts.on_host && facts.ranks > most_allreduce_ranks)
    return fmt::format("{} ranks share a host, and kernels reduce over {} at most", facts.ranks,
                       most_allreduce_ranks);
  return facts.mapping_refusal;
}
std::string refuse_device(const AllreduceFacts& facts, const AllreduceOptions& /*options*/ = {}) {
  return facts.on_host ? "" : "it is not for GPUs";
}
std::string refuse_gsb(const AllreduceFacts& facts, const AllreduceOptions& options) {
  return facts.on_host ? facts.mapping_refusal : refuse_device(facts, options);
}
bool combines_by_levels(const AllreduceOptions& options) {
  return options.inner || options.outer;
}
std::string refuse_hierarchical(const AllreduceFacts& facts, const AllreduceOptions& options) {
  return combines_by_levels(options) ? refuse_device(facts) : facts.hierarchy_refusal;
}
std::string refuse_nothing(const AllreduceFacts& /*facts*/, const AllreduceOptions& /*options*/) {
  return {};
}

bool always(const AllreduceOptions& /*options*/) {
  return true;
}
bool never(const AllreduceOptions& /*options*/) {
  return false;
}
bool unless_by_levels(const AllreduceOptions& options) {
  return !combines_by_levels(options);
}

std::string refuse(const AllreduceEntry& entry, const AllreduceFacts& facts,
                   const AllreduceOptions& options) {
  if (!options.fast && !entry.is_ordered(options))
    return "it combines in another order than by rank, on which the bits of a result depend: the option "
           "fast, or "
           "SELVAGE_ALLREDUCE_FAST=yes, allows that";
  return entry.refuse(facts, options);
}

/// Up to here combining everything oneself costs less than a second wait. Measured with two and four ranks, on two
/// cores and on H200 GPUs.
std::int64_t most_one_shot_bytes(const AllreduceFacts& facts) {
  return facts.on_host ? 8 * 1024 : 1024 * 1024 / std::max(1, facts.ranks - 1);
}

/// What a rank moves each way, in units of all elements: a part to and from each other rank by two_shot. A leader sends
/// all to the other leader, and all to its group.
std::string why_not_pipelined(const AllreduceFacts& facts) {
  if (!facts.on_host || facts.ranks < 3) return {};
  return fmt::format("; not pipelined: on one host two_shot moves {:.3g} times the elements, leaders 2 times",
                     2.0 * (facts.ranks - 1) / facts.ranks);
}

}  // namespace

std::vector<int> all_ranks(const AllreduceParts& parts) {
  std::vector<int> ranks(static_cast<std::size_t>(parts.context.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

std::span<const AllreduceEntry> allreduce_algorithms() {
  using enum AllreduceAlgorithm;
  static const std::array entries{
      AllreduceEntry{one_shot, always, refuse_mapped, make_one_shot},
      AllreduceEntry{two_shot, always, refuse_mapped, make_two_shot},
      AllreduceEntry{gsb, always, refuse_gsb, make_gsb},
      AllreduceEntry{hierarchical, unless_by_levels, refuse_hierarchical, make_hierarchical},
      AllreduceEntry{mpi, always, refuse_nothing, make_mpi_two_shot},
      AllreduceEntry{btb, never, refuse_device, make_btb},
      AllreduceEntry{recursive_doubling, never, refuse_nothing, make_recursive_doubling},
      AllreduceEntry{ring, never, refuse_nothing, make_ring},
      AllreduceEntry{segmented_ring, never, refuse_nothing, make_segmented_ring},
      AllreduceEntry{pipelined, never, refuse_device, make_pipelined},
  };
  return entries;
}

ChosenAllreduce choose_allreduce(const AllreduceFacts& facts, const AllreduceOptions& options,
                                 const std::string& forced_by) {
  const auto entry_of = [](AllreduceAlgorithm algorithm) {
    return std::ranges::find(allreduce_algorithms(), algorithm, &AllreduceEntry::algorithm);
  };
  if (options.algorithm) {
    const auto entry = entry_of(*options.algorithm);
    const std::string refusal = refuse(*entry, facts, options);
    if (refusal.empty()) return {&*entry, "forced by " + forced_by};
    throw Error(ErrorKind::unsupported,
                fmt::format("allreduce algorithm {}, forced by {}, is not possible: {}",
                            to_string(*options.algorithm), forced_by, refusal));
  }
  if (const std::string refusal = refuse_mapped(facts); !refusal.empty()) {
    if (facts.hierarchy_refusal.empty())
      return {&*entry_of(AllreduceAlgorithm::hierarchical), "fewest bytes between hosts; " + refusal};
    return {&*entry_of(AllreduceAlgorithm::mpi),
            fmt::format("works everywhere; {}; not hierarchical: {}", refusal, facts.hierarchy_refusal)};
  }
  const std::int64_t most = most_one_shot_bytes(facts);
  if (facts.bytes <= most)
    return {&*entry_of(AllreduceAlgorithm::one_shot),
            fmt::format("at most {} bytes between {} ranks", most, facts.ranks)};
  return {&*entry_of(AllreduceAlgorithm::two_shot),
          fmt::format("more than {} bytes between {} ranks{}", most, facts.ranks, why_not_pipelined(facts))};
}

}  // namespace selvage::detail
