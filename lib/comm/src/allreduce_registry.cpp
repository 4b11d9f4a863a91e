#include "allreduce_registry.hpp"

#include "allreduces/hierarchical.hpp"
#include "allreduces/mpi_two_shot.hpp"
#include "allreduces/one_shot.hpp"
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

std::string refuse_mapped(const AllreduceFacts& facts) {
  if (!facts.on_host && facts.ranks > most_allreduce_ranks)
    return fmt::format("{} ranks share a host, and kernels reduce over {} at most", facts.ranks,
                       most_allreduce_ranks);
  return facts.mapping_refusal;
}
std::string refuse_hierarchical(const AllreduceFacts& facts) {
  return facts.hierarchy_refusal;
}
std::string refuse_nothing(const AllreduceFacts& /*facts*/) {
  return {};
}

/// Up to here combining everything oneself costs less than a second wait. Measured with two and four ranks, on two
/// cores and on H200 GPUs.
std::int64_t most_one_shot_bytes(const AllreduceFacts& facts) {
  return facts.on_host ? 8 * 1024 : 1024 * 1024 / std::max(1, facts.ranks - 1);
}

}  // namespace

std::vector<int> all_ranks(const AllreduceParts& parts) {
  std::vector<int> ranks(static_cast<std::size_t>(parts.context.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

std::span<const AllreduceEntry> allreduce_algorithms() {
  static const std::array entries{
      AllreduceEntry{AllreduceAlgorithm::one_shot, refuse_mapped, make_one_shot},
      AllreduceEntry{AllreduceAlgorithm::two_shot, refuse_mapped, make_two_shot},
      AllreduceEntry{AllreduceAlgorithm::hierarchical, refuse_hierarchical, make_hierarchical},
      AllreduceEntry{AllreduceAlgorithm::mpi, refuse_nothing, make_mpi_two_shot},
  };
  return entries;
}

ChosenAllreduce choose_allreduce(const AllreduceFacts& facts, std::optional<AllreduceAlgorithm> forced,
                                 const std::string& forced_by) {
  const auto entry_of = [](AllreduceAlgorithm algorithm) {
    return std::ranges::find(allreduce_algorithms(), algorithm, &AllreduceEntry::algorithm);
  };
  if (forced) {
    const auto entry = entry_of(*forced);
    const std::string refusal = entry->refuse(facts);
    if (refusal.empty()) return {&*entry, "forced by " + forced_by};
    throw Error(ErrorKind::unsupported,
                fmt::format("allreduce algorithm {}, forced by {}, is not possible: {}", to_string(*forced),
                            forced_by, refusal));
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
          fmt::format("more than {} bytes between {} ranks", most, facts.ranks)};
}

}  // namespace selvage::detail
