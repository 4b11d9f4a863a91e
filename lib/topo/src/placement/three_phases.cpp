#include <selvage/counted.hpp>
#include <selvage/error.hpp>
#include <selvage/topo/three_phases.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace selvage::topo {
namespace {

/// The traffic of some ranks among themselves from one kind of memory; they are renumbered in their order.
Traffic traffic_within(const Traffic& traffic, const std::vector<int>& ranks, Memory memory) {
  std::vector<int> number(static_cast<std::size_t>(traffic.rank_count()), -1);
  for (std::size_t i = 0; i < ranks.size(); ++i) number[ranks[i]] = static_cast<int>(i);
  std::vector<TrafficEntry> entries;
  for (const int rank : ranks) {
    for (const TrafficEntry& entry : traffic.sent_by(rank)) {
      if (number[entry.to] < 0) continue;
      TrafficEntry inside{.from = number[rank], .to = number[entry.to], .host = {}, .device = {}};
      (memory == Memory::host ? inside.host : inside.device) =
          memory == Memory::host ? entry.host : entry.device;
      entries.push_back(inside);
    }
  }
  return Traffic(static_cast<int>(ranks.size()), std::move(entries));
}

/// One phase inside one host.
void place_within(const MappingProblem& problem, const std::vector<int>& ranks, Memory memory,
                  const Fabric& slots, const Phase& phase, std::vector<int>& slot_of_rank) {
  const Traffic inside = traffic_within(problem.traffic, ranks, memory);
  const Placement placement = phase(
      {.traffic = inside, .fabric = slots, .grid = {}, .seed = problem.seed, .routing = problem.routing});
  for (std::size_t i = 0; i < ranks.size(); ++i)
    slot_of_rank[ranks[i]] = placement.slot_of(static_cast<int>(i));
}

/// Ranks that share cores.
struct CoreGroup {
  std::vector<int> ranks;
  std::vector<Core> cores;
};

/// The usable cores among those that are near to a rank's GPU; all where that isn't known.
std::vector<Core> cores_near(const Gpu* gpu, const std::vector<Core>& cores) {
  if (gpu == nullptr || !gpu->near_cpus.is_known()) return cores;
  const std::set<int> near(gpu->near_cpus.value().begin(), gpu->near_cpus.value().end());
  std::vector<Core> found;
  std::ranges::copy_if(cores, std::back_inserter(found), [&](const Core& core) {
    return std::ranges::any_of(core.cpus, [&](int cpu) { return near.contains(cpu); });
  });
  return found;
}

/// Ranks by what is near to their GPUs. One group where that would be too few cores for some, or the same ones for several.
std::vector<CoreGroup> groups_of(const std::vector<int>& ranks, const Placement& placement,
                                 const Machine& machine, const std::vector<Core>& cores) {
  std::map<std::vector<int>, CoreGroup> by_cpus;
  std::size_t taken = 0;
  bool is_enough = true;
  for (const int rank : ranks) {
    std::vector<Core> near = cores_near(machine.gpu_of(placement.slot_of(rank)), cores);
    CoreGroup& group = by_cpus[cpus_of(near)];
    group.ranks.push_back(rank);
    group.cores = std::move(near);
  }
  std::set<int> cpus;
  for (const auto& [list, group] : by_cpus) {
    is_enough = is_enough && group.cores.size() >= group.ranks.size();
    cpus.insert(list.begin(), list.end());
    taken += list.size();
  }
  if (!is_enough || taken > cpus.size()) return {{.ranks = ranks, .cores = cores}};
  std::vector<CoreGroup> groups;
  for (auto& [list, group] : by_cpus) groups.push_back(std::move(group));
  return groups;
}

void place_group(const MappingProblem& problem, const CoreGroup& group, const PhysicalHost& host,
                 const Phase& phase, std::vector<Figure<CoreShare>>& placed) {
  const std::vector<CoreShare> shares = shares_of(group.cores, static_cast<int>(group.ranks.size()));
  std::vector<int> share_of_rank(placed.size(), 0);
  place_within(problem, group.ranks, Memory::host, fabric_of_cores(host.name, shares), phase, share_of_rank);
  for (const int rank : group.ranks)
    placed[rank] = Figure<CoreShare>::known(shares[share_of_rank[rank]], host.core_list.source());
}

}  // namespace

Placement portfolio_phase(const MappingProblem& problem) {
  return place_by_portfolio(problem).result().placement;
}

Placement by_rank_phase(const MappingProblem& problem) {
  return Placement::by_rank(problem.traffic.rank_count(), problem.fabric.slot_count());
}

ThreePhasePlacement place_in_three_phases(const MappingProblem& problem, const Fabric& cores,
                                          const Fabric& gpus, const Phases& phases) {
  const Placement hosts = phases.process_to_host(problem);
  const auto ranks = static_cast<std::size_t>(problem.traffic.rank_count());
  ThreePhasePlacement placed{.host_of_rank = {},
                             .core_of_rank = std::vector<int>(ranks, 0),
                             .gpu_of_rank = std::vector<int>(ranks, 0)};
  std::vector<std::vector<int>> ranks_of(static_cast<std::size_t>(problem.fabric.host_count()));
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    placed.host_of_rank.push_back(problem.fabric.host_of(hosts.slot_of(static_cast<int>(rank))));
    ranks_of[placed.host_of_rank.back()].push_back(static_cast<int>(rank));
  }
  for (const std::vector<int>& here : ranks_of) {
    if (here.empty()) continue;
    place_within(problem, here, Memory::host, cores, phases.process_to_core, placed.core_of_rank);
    place_within(problem, here, Memory::device, gpus, phases.gpu_to_process, placed.gpu_of_rank);
  }
  return placed;
}

Placement place_on_gpus(const MappingProblem& problem, const Placement& placement, const Phase& phase) {
  const Fabric& fabric = problem.fabric;
  if (placement.slot_count() != fabric.slot_count())
    throw Error(ErrorKind::input,
                fmt::format("a placement in {} on a fabric of {}", counted(placement.slot_count(), "slot"),
                            counted(fabric.slot_count(), "slot")));
  std::vector<std::vector<int>> ranks_of(static_cast<std::size_t>(fabric.host_count()));
  for (int rank = 0; rank < placement.rank_count(); ++rank)
    ranks_of[fabric.host_of(placement.slot_of(rank))].push_back(rank);
  std::vector<int> slot_of_rank(static_cast<std::size_t>(placement.rank_count()), 0);
  for (int host = 0; host < fabric.host_count(); ++host) {
    if (ranks_of[host].empty()) continue;
    const Fabric slots({.description = fabric.host(host).name,
                        .hosts = {fabric.host(host)},
                        .host_costs = {0},
                        .slot_hosts = {},
                        .network = nullptr,
                        .endpoints = {}});
    place_within(problem, ranks_of[host], Memory::device, slots, phase, slot_of_rank);
    for (const int rank : ranks_of[host]) slot_of_rank[rank] = fabric.slots_of(host)[slot_of_rank[rank]];
  }
  return {std::move(slot_of_rank), fabric.slot_count()};
}

std::vector<Figure<CoreShare>> place_on_cores(const MappingProblem& problem, const Placement& placement,
                                              const Machine& machine, const Phase& phase) {
  if (placement.slot_count() != machine.rank_count())
    throw Error(ErrorKind::input,
                fmt::format("a placement in {} on a machine of {}", counted(placement.slot_count(), "slot"),
                            counted(machine.rank_count(), "rank")));
  const auto ranks = static_cast<std::size_t>(placement.rank_count());
  std::vector<std::vector<int>> ranks_of(machine.physical_hosts().size());
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const int slot = placement.slot_of(static_cast<int>(rank));
    ranks_of[machine.place(slot).physical_host].push_back(static_cast<int>(rank));
  }
  std::vector<Figure<CoreShare>> placed(ranks);
  for (std::size_t number = 0; number < ranks_of.size(); ++number) {
    if (ranks_of[number].empty()) continue;
    const PhysicalHost& host = machine.physical_hosts()[number];
    try {
      const std::vector<Core> cores = usable_cores(host);
      for (const CoreGroup& group : groups_of(ranks_of[number], placement, machine, cores))
        place_group(problem, group, host, phase, placed);
    } catch (const Error& error) {
      for (const int rank : ranks_of[number]) placed[rank] = Figure<CoreShare>::unknown(error.message());
    }
  }
  return placed;
}

}  // namespace selvage::topo
