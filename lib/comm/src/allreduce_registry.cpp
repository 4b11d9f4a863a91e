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
#include <limits>
#include <numeric>
#include <vector>

namespace selvage::detail {
namespace {

std::string refuse_mapped(const AllreduceFacts& facts) {
  if (!facts.on_host && facts.ranks > most_allreduce_ranks)
    return fmt::format("{} ranks share a host, and kernels reduce over {} at most", facts.ranks,
                       most_allreduce_ranks);
  return facts.mapping_refusal;
}
std::string refuse_hosts(const AllreduceFacts& facts) {
  return facts.on_host ? "it is for GPUs" : refuse_mapped(facts);
}
std::string refuse_hierarchical(const AllreduceFacts& facts) {
  return facts.hierarchy_refusal;
}
std::string refuse_nothing(const AllreduceFacts& /*facts*/) {
  return {};
}

struct SizeRule {
  AllreduceAlgorithm algorithm;
  std::int64_t most_bytes;
};

/// The best up to so many bytes, by what was measured with two and four ranks, on two cores and on H200 GPUs. Combining
/// everything oneself costs less than a second wait while elements are few.
std::vector<SizeRule> size_rules(const AllreduceFacts& facts) {
  constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kilobyte = 1024;
  constexpr std::int64_t megabyte = 1024 * kilobyte;
  if (facts.on_host)
    return {{AllreduceAlgorithm::one_shot, 8 * kilobyte}, {AllreduceAlgorithm::two_shot, any}};
  // Fewer blocks than that don't fill the links by stores, but do by loads.
  constexpr int push_multiprocessors = 96;
  const bool pushes = facts.multiprocessors == 0 || facts.multiprocessors >= push_multiprocessors;
  return {{AllreduceAlgorithm::one_shot, 8 * kilobyte},
          {AllreduceAlgorithm::one_shot_ll128, megabyte / facts.ranks},
          {AllreduceAlgorithm::two_shot_ll128, 4 * megabyte},
          {pushes ? AllreduceAlgorithm::two_shot_push : AllreduceAlgorithm::two_shot, any}};
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
      AllreduceEntry{AllreduceAlgorithm::one_shot_ll128, refuse_hosts, make_one_shot_ll128},
      AllreduceEntry{AllreduceAlgorithm::two_shot, refuse_mapped, make_two_shot},
      AllreduceEntry{AllreduceAlgorithm::two_shot_ll128, refuse_hosts, make_two_shot_ll128},
      AllreduceEntry{AllreduceAlgorithm::two_shot_push, refuse_hosts, make_two_shot_push},
      AllreduceEntry{AllreduceAlgorithm::hierarchical, refuse_hierarchical, make_hierarchical},
      AllreduceEntry{AllreduceAlgorithm::mpi, refuse_nothing, make_mpi_two_shot},
  };
  return entries;
}

namespace {

auto entry_of(AllreduceAlgorithm algorithm) {
  return std::ranges::find(allreduce_algorithms(), algorithm, &AllreduceEntry::algorithm);
}

/// The fastest algorithm of a table's row that is possible here; none, with the reasons in `why`, where none is.
ChosenAllreduce choose_by_table(const AllreduceFacts& facts) {
  ChosenAllreduce chosen{nullptr, facts.advice.why};
  for (const std::string& name : facts.advice.algorithms) {
    const auto entry = std::ranges::find(allreduce_algorithms(), name,
                                         [](const auto& known) { return to_string(known.algorithm); });
    const bool is_known = entry != allreduce_algorithms().end();
    const std::string refusal = is_known ? entry->refuse(facts) : "this version doesn't have it";
    if (refusal.empty()) {
      chosen.entry = &*entry;
      break;
    }
    chosen.why += fmt::format("; not {}: {}", name, refusal);
  }
  return chosen;
}

ChosenAllreduce choose_by_rule(const AllreduceFacts& facts) {
  if (const std::string refusal = refuse_mapped(facts); !refusal.empty()) {
    if (facts.hierarchy_refusal.empty())
      return {&*entry_of(AllreduceAlgorithm::hierarchical), "fewest bytes between hosts; " + refusal};
    return {&*entry_of(AllreduceAlgorithm::mpi),
            fmt::format("works everywhere; {}; not hierarchical: {}", refusal, facts.hierarchy_refusal)};
  }
  const std::vector<SizeRule> rules = size_rules(facts);
  const auto rule =
      std::ranges::find_if(rules, [&](const SizeRule& each) { return facts.bytes <= each.most_bytes; });
  const std::string why =
      rule + 1 == rules.end()
          ? fmt::format("more than {} bytes between {} ranks", (rule - 1)->most_bytes, facts.ranks)
          : fmt::format("at most {} bytes between {} ranks", rule->most_bytes, facts.ranks);
  return {&*entry_of(rule->algorithm), why};
}

}  // namespace

ChosenAllreduce choose_allreduce(const AllreduceFacts& facts, std::optional<AllreduceAlgorithm> forced,
                                 const std::string& forced_by) {
  if (forced) {
    const auto entry = entry_of(*forced);
    const std::string refusal = entry->refuse(facts);
    if (refusal.empty()) return {&*entry, "forced by " + forced_by};
    throw Error(ErrorKind::unsupported,
                fmt::format("allreduce algorithm {}, forced by {}, is not possible: {}", to_string(*forced),
                            forced_by, refusal));
  }
  ChosenAllreduce by_table = choose_by_table(facts);
  if (by_table.entry != nullptr) return by_table;
  ChosenAllreduce by_rule = choose_by_rule(facts);
  if (!by_table.why.empty()) by_rule.why += "; " + by_table.why;
  return by_rule;
}

}  // namespace selvage::detail
