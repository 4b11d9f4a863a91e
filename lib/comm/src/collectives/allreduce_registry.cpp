#include "allreduce_registry.hpp"

#include "collectives/algorithms/binomial_tree.hpp"
#include "collectives/algorithms/device_allreduce.hpp"
#include "collectives/algorithms/hierarchical.hpp"
#include "collectives/algorithms/levels.hpp"
#include "collectives/algorithms/mpi_two_shot.hpp"
#include "collectives/algorithms/one_shot.hpp"
#include "collectives/algorithms/pipelined.hpp"
#include "collectives/algorithms/recursive_doubling.hpp"
#include "collectives/algorithms/ring.hpp"
#include "collectives/algorithms/shared_buffer_tree.hpp"
#include "collectives/algorithms/two_shot.hpp"
#include "runtime/context_state.hpp"

#include <selvage/counted.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

namespace selvage::detail {
namespace {

std::string refuse_mapped(const AllreduceFacts& facts, const AllreduceOptions& /*options*/ = {}) {
  if (!facts.on_host && facts.ranks > most_allreduce_ranks)
    return fmt::format("{} ranks share a host, and kernels reduce over {} at most", facts.ranks,
                       most_allreduce_ranks);
  return facts.mapping_refusal;
}
std::string refuse_hosts(const AllreduceFacts& facts, const AllreduceOptions& /*options*/) {
  return facts.on_host ? "it is for GPUs" : refuse_mapped(facts);
}
std::string refuse_device(const AllreduceFacts& facts, const AllreduceOptions& /*options*/ = {}) {
  return facts.on_host ? "" : "it is not for GPUs";
}
std::string refuse_shared_buffer_tree(const AllreduceFacts& facts, const AllreduceOptions& options) {
  return facts.on_host ? facts.mapping_refusal : refuse_device(facts, options);
}
/// NCCL accepts only one rank per GPU.
std::string refuse_nccl_between(const AllreduceFacts& facts, const std::vector<int>& ranks) {
  for (const int rank : ranks) {
    for (const int other : ranks) {
      if (other < rank &&
          facts.gpus[static_cast<std::size_t>(other)] == facts.gpus[static_cast<std::size_t>(rank)])
        return fmt::format("ranks {} and {} share a GPU, and NCCL takes one rank on each", other, rank);
    }
  }
  return nccl_refusal();
}
bool combines_by_levels(const AllreduceOptions& options) {
  return options.inner || options.outer;
}
/// The groups of GPUs that combine by levels.
std::string refuse_device_levels(const AllreduceFacts& facts, const AllreduceOptions& options,
                                 const std::vector<std::vector<int>>& groups) {
  if (groups.size() < 2) return "all ranks are in one group";
  if (options.inner.value_or(AllreduceAlgorithm::two_shot) != AllreduceAlgorithm::two_shot)
    return fmt::format("GPUs of a group combine by two_shot, not by {}", to_string(*options.inner));
  for (const std::vector<int>& group : groups) {
    if (group.size() != groups.front().size())
      return fmt::format("groups have {} and {} ranks", groups.front().size(), group.size());
    const bool is_in_a_host = std::ranges::any_of(facts.hosts, [&](const std::vector<int>& host) {
      return std::ranges::all_of(group, [&](int rank) { return std::ranges::count(host, rank) > 0; });
    });
    if (!is_in_a_host) return fmt::format("the group of rank {} is not on one host", group.front());
  }
  for (std::size_t place = 0; options.outer == AllreduceAlgorithm::nccl && place < groups.front().size();
       ++place) {
    std::vector<int> outer_group;
    for (const std::vector<int>& group : groups) outer_group.push_back(group[place]);
    if (const std::string refusal = refuse_nccl_between(facts, outer_group); !refusal.empty()) return refusal;
  }
  if (groups.front().size() == 1) return {};
  if (groups.front().size() > most_allreduce_ranks)
    return fmt::format("kernels combine those of {} ranks at most", most_allreduce_ranks);
  return facts.host_mapping_refusal;
}
std::string refuse_host_levels(const AllreduceOptions& options) {
  if (options.inner == AllreduceAlgorithm::two_shot) return "two_shot inside a group is for GPUs";
  if (options.outer == AllreduceAlgorithm::two_shot) return "two_shot between groups is for GPUs";
  return options.outer == AllreduceAlgorithm::nccl ? "nccl is for GPUs" : "";
}
std::string refuse_hierarchical(const AllreduceFacts& facts, const AllreduceOptions& options) {
  if (!combines_by_levels(options) && (facts.on_host || !facts.hierarchy_refusal.empty()))
    return facts.hierarchy_refusal;
  if (facts.on_host) return refuse_host_levels(options);
  if (options.outer != AllreduceAlgorithm::two_shot) return refuse_device_levels(facts, options, facts.hosts);
  if (const std::string refusal = refuse_mapped(facts); !refusal.empty()) return refusal;
  return refuse_device_levels(facts, options, device_groups(options.group_size, facts.gpus));
}
std::string refuse_pipelined(const AllreduceFacts& facts, const AllreduceOptions& options) {
  if (facts.on_host) return refuse_host_levels(options);
  if (options.outer == AllreduceAlgorithm::two_shot) return "two_shot between groups is for hierarchical";
  return refuse_device_levels(
      facts, options,
      options.group_size > 0 ? groups_in_order(facts.ranks, options.group_size) : facts.hosts);
}
std::string refuse_nccl(const AllreduceFacts& facts, const AllreduceOptions& /*options*/) {
  if (facts.on_host) return "it is for GPUs";
  std::vector<int> ranks(static_cast<std::size_t>(facts.ranks));
  std::iota(ranks.begin(), ranks.end(), 0);
  return refuse_nccl_between(facts, ranks);
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
  if (!options.allow_reordering && !entry.is_ordered(options))
    return "it combines in another order than by rank, on which the bits of a result depend: the option "
           "allow_reordering, or SELVAGE_ALLREDUCE_REORDERING=yes, allows that";
  if (facts.flow.kind != CollectiveKind::allreduce && !entry.is_for_all_kinds)
    return fmt::format("it is no {}", to_string(facts.flow.kind));
  return entry.refuse(facts, options);
}

template <AllreduceAlgorithm algorithm>
std::unique_ptr<AllreduceRunner> make_on_gpus(const AllreduceParts& parts) {
  return make_device_allreduce(algorithm, parts);
}

struct SizeRule {
  AllreduceAlgorithm algorithm;
  std::int64_t most_bytes;
};

bool each_has_a_gpu(const AllreduceFacts& facts) {
  for (std::size_t rank = 0; rank < facts.gpus.size(); ++rank)
    if (facts.gpus[rank] != static_cast<int>(rank)) return false;
  return true;
}

/// The sizes up to which each algorithm is fastest, as measured with two, three and four ranks, on two cores and on more than there are
/// ranks, on H100 and H200 GPUs and on one H100. For few elements it is faster that each rank combines all of them than to wait a second
/// time.
std::vector<SizeRule> size_rules(const AllreduceFacts& facts) {
  constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kilobyte = 1024;
  constexpr std::int64_t megabyte = 1024 * kilobyte;
  if (facts.on_host) {
    // Ranks that combine parts in place wait a second time, but copy nothing: faster at every size that was measured, unless ranks that
    // wait for the same core make a wait long.
    const bool waits_are_short = facts.ranks == 2 || !facts.ranks_share_cores;
    if (facts.has_mapped_views && waits_are_short) return {{AllreduceAlgorithm::two_shot, any}};
    const std::int64_t most_in_one_shot = facts.ranks == 2  ? kilobyte / 2
                                          : waits_are_short ? kilobyte
                                                            : 2 * kilobyte;
    return {{AllreduceAlgorithm::one_shot, most_in_one_shot}, {AllreduceAlgorithm::two_shot, any}};
  }
  // No link lies between ranks that share a GPU, so nothing is gained by storing where another rank loads.
  const bool is_one_gpu = facts.ranks > 1 && !facts.gpus.empty() &&
                          std::ranges::all_of(facts.gpus, [](int first) { return first == 0; });
  if (is_one_gpu) {
    return {{AllreduceAlgorithm::one_shot, megabyte / 4},
            {AllreduceAlgorithm::one_shot_ll128, 2 * megabyte / facts.ranks},
            {AllreduceAlgorithm::two_shot, any}};
  }
  // Fewer blocks saturate the links with loads, but not with stores.
  constexpr int least_push_blocks = 96;
  const bool has_many_blocks = facts.max_blocks == 0 || facts.max_blocks >= least_push_blocks;
  // A line is read again once its flag is there, which costs more than one_shot's longer messages, where many blocks send them.
  const std::int64_t most_in_one_shot =
      has_many_blocks ? std::min(64 * kilobyte, megabyte / 4 / facts.ranks) : 8 * kilobyte;
  // With two ranks on each of two H200, storing parts was faster than lines at 4 MB, and slower at 1 MB.
  const std::int64_t most_in_lines = each_has_a_gpu(facts) ? 8 * megabyte : 2 * megabyte;
  return {{AllreduceAlgorithm::one_shot, most_in_one_shot},
          {AllreduceAlgorithm::one_shot_ll128, megabyte / facts.ranks},
          {AllreduceAlgorithm::two_shot_ll128, most_in_lines},
          {has_many_blocks ? AllreduceAlgorithm::two_shot_push : AllreduceAlgorithm::two_shot, any}};
}

/// How much a rank moves in each direction, in units of all elements. By two_shot: one part to and from each other rank. By pipelined: a
/// leader sends all elements to the other leader and all to its group.
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
      AllreduceEntry{one_shot, always, false, refuse_mapped, make_one_shot},
      AllreduceEntry{one_shot_ll128, always, false, refuse_hosts, make_on_gpus<one_shot_ll128>},
      AllreduceEntry{two_shot, always, true, refuse_mapped, make_two_shot},
      AllreduceEntry{two_shot_ll128, always, false, refuse_hosts, make_on_gpus<two_shot_ll128>},
      AllreduceEntry{two_shot_push, always, false, refuse_hosts, make_on_gpus<two_shot_push>},
      AllreduceEntry{two_shot_copy_engine, always, false, refuse_hosts, make_on_gpus<two_shot_copy_engine>},
      AllreduceEntry{copy_engine, always, false, refuse_hosts, make_on_gpus<copy_engine>},
      AllreduceEntry{shared_buffer_tree, always, false, refuse_shared_buffer_tree, make_shared_buffer_tree},
      AllreduceEntry{hierarchical, unless_by_levels, false, refuse_hierarchical, make_hierarchical},
      AllreduceEntry{mpi, always, true, refuse_nothing, make_mpi_two_shot},
      AllreduceEntry{nccl, never, false, refuse_nccl, make_nccl},
      AllreduceEntry{binomial_tree, never, false, refuse_device, make_binomial_tree},
      AllreduceEntry{recursive_doubling, never, false, refuse_nothing, make_recursive_doubling},
      AllreduceEntry{ring, never, false, refuse_nothing, make_ring},
      AllreduceEntry{segmented_ring, never, false, refuse_nothing, make_segmented_ring},
      AllreduceEntry{recursive_doubling_ll, never, false, refuse_hosts, make_on_gpus<recursive_doubling_ll>},
      AllreduceEntry{multi_ring, never, false, refuse_hosts, make_on_gpus<multi_ring>},
      AllreduceEntry{pipelined, never, false, refuse_pipelined, make_pipelined},
  };
  return entries;
}

namespace {

auto entry_of(AllreduceAlgorithm algorithm) {
  return std::ranges::find(allreduce_algorithms(), algorithm, &AllreduceEntry::algorithm);
}

/// The fastest algorithm of a table's row that is possible here. If none is, returns none, and `why` has the reasons.
ChosenAllreduce choose_by_table(const AllreduceFacts& facts, const AllreduceOptions& options) {
  ChosenAllreduce chosen{nullptr, facts.advice.why};
  for (const std::string& name : facts.advice.algorithms) {
    const auto entry = std::ranges::find(allreduce_algorithms(), name,
                                         [](const auto& known) { return to_string(known.algorithm); });
    const bool is_known = entry != allreduce_algorithms().end();
    const std::string refusal = is_known ? refuse(*entry, facts, options) : "this version doesn't have it";
    if (refusal.empty()) {
      chosen.entry = &*entry;
      break;
    }
    chosen.why += fmt::format("; not {}: {}", name, refusal);
  }
  return chosen;
}

std::string why_by_size(const AllreduceFacts& facts, const std::vector<SizeRule>& rules,
                        const SizeRule& rule) {
  const std::string ranks = counted(facts.ranks, "rank");
  if (&rule != &rules.back()) return fmt::format("at most {} bytes between {}", rule.most_bytes, ranks);
  if (rules.size() == 1)
    return fmt::format("any number of bytes between {} that map each other's Views", ranks);
  return fmt::format("more than {} bytes between {}{}", rules[rules.size() - 2].most_bytes, ranks,
                     why_not_pipelined(facts));
}

ChosenAllreduce choose_by_rule(const AllreduceFacts& facts) {
  const bool is_allreduce = facts.flow.kind == CollectiveKind::allreduce;
  if (const std::string refusal = refuse_mapped(facts); !refusal.empty()) {
    const std::string not_by_hosts = refuse_hierarchical(facts, {});
    if (not_by_hosts.empty() && is_allreduce)
      return {&*entry_of(AllreduceAlgorithm::hierarchical), "fewest bytes between hosts; " + refusal};
    std::string why = "works everywhere; " + refusal;
    if (is_allreduce) why += "; not hierarchical: " + not_by_hosts;
    return {&*entry_of(AllreduceAlgorithm::mpi), why};
  }
  if (!is_allreduce) return {&*entry_of(AllreduceAlgorithm::two_shot), "every rank maps the others' memory"};
  const std::vector<SizeRule> rules = size_rules(facts);
  const auto rule =
      std::ranges::find_if(rules, [&](const SizeRule& each) { return facts.bytes <= each.most_bytes; });
  return {&*entry_of(rule->algorithm), why_by_size(facts, rules, *rule)};
}

}  // namespace

ChosenAllreduce choose_allreduce(const AllreduceFacts& facts, const AllreduceOptions& options,
                                 const std::string& forced_by) {
  if (options.algorithm) {
    const auto entry = entry_of(*options.algorithm);
    const std::string refusal = refuse(*entry, facts, options);
    if (refusal.empty()) return {&*entry, "forced by " + forced_by};
    throw Error(ErrorKind::unsupported,
                fmt::format("allreduce algorithm {}, forced by {}, is not possible: {}",
                            to_string(*options.algorithm), forced_by, refusal));
  }
  ChosenAllreduce by_table = choose_by_table(facts, options);
  if (by_table.entry != nullptr) return by_table;
  ChosenAllreduce by_rule = choose_by_rule(facts);
  if (!by_table.why.empty()) by_rule.why += "; " + by_table.why;
  return by_rule;
}

}  // namespace selvage::detail
