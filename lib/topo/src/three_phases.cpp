#include <selvage/topo/three_phases.hpp>

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

}  // namespace selvage::topo
