#include "text/cpu_list.hpp"

#include <selvage/counted.hpp>
#include <selvage/error.hpp>
#include <selvage/topo/rank_files.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <tuple>

namespace selvage::topo {

PlacementPlan plan_of(const Fabric& fabric, const Placement& placement) {
  PlacementPlan plan;
  for (int host = 0; host < fabric.host_count(); ++host) {
    plan.hosts.push_back({fabric.host(host).name, fabric.host(host).slots});
  }
  for (const int slot : placement.slots())
    plan.ranks.push_back({fabric.host_of(slot), fabric.index_in_host(slot)});
  return plan;
}

void add_cores(PlacementPlan& plan, const std::vector<Figure<CoreShare>>& cores) {
  for (std::size_t rank = 0; rank < plan.ranks.size(); ++rank) {
    PlacementPlan::Rank& at = plan.ranks[rank];
    if (!cores.at(rank).is_known()) {
      if (plan.cores_unknown.empty()) plan.cores_unknown = cores[rank].reason();
      continue;
    }
    at.cpus = cpus_of(cores[rank].value());
    for (const Core& core : cores[rank].value()) {
      if (core.number) at.cores.push_back(*core.number);
    }
  }
}

std::string openmpi_rank_file(const PlacementPlan& plan) {
  std::string text;
  for (std::size_t rank = 0; rank < plan.ranks.size(); ++rank) {
    const PlacementPlan::Rank& at = plan.ranks[rank];
    fmt::format_to(std::back_inserter(text), "rank {}={} slot={}\n", rank, plan.hosts[at.host].name,
                   at.cores.empty() ? fmt::to_string(at.slot) : format_cpu_list(at.cores));
  }
  return text;
}

std::string slurm_host_file(const PlacementPlan& plan) {
  std::string text;
  for (const PlacementPlan::Rank& at : plan.ranks) text += plan.hosts[at.host].name + "\n";
  return text;
}

std::string mpich_rank_order(const PlacementPlan& plan) {
  std::vector<int> order;
  std::vector<int> on_host(plan.hosts.size(), 0);
  for (std::size_t rank = 0; rank < plan.ranks.size(); ++rank) {
    order.push_back(static_cast<int>(rank));
    ++on_host[plan.ranks[rank].host];
  }
  std::size_t used = plan.hosts.size();
  while (used > 0 && on_host[used - 1] == 0) --used;
  for (std::size_t host = 0; host + 1 < used; ++host) {
    if (on_host[host] == plan.hosts[host].slots) continue;
    throw Error(ErrorKind::input,
                fmt::format("an MPICH rank order fills host after host, but {} has {} in {} slots",
                            plan.hosts[host].name, counted(static_cast<std::size_t>(on_host[host]), "rank"),
                            plan.hosts[host].slots));
  }
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const auto place = [&](int rank) { return std::tuple(plan.ranks[rank].host, plan.ranks[rank].slot); };
    return place(a) < place(b);
  });
  return fmt::format("{}\n", fmt::join(order, ","));
}

std::string core_list(const PlacementPlan& plan) {
  std::string text;
  for (std::size_t rank = 0; rank < plan.ranks.size(); ++rank) {
    if (plan.ranks[rank].cpus.empty())
      throw Error(ErrorKind::input, fmt::format("the placement names no cores for rank {}{}{}", rank,
                                                plan.cores_unknown.empty() ? "" : ": ", plan.cores_unknown));
    text += format_cpu_list(plan.ranks[rank].cpus) + "\n";
  }
  return text;
}

std::string gpu_list(const PlacementPlan& plan) {
  std::string text;
  for (const PlacementPlan::Rank& at : plan.ranks) fmt::format_to(std::back_inserter(text), "{}\n", at.slot);
  return text;
}

}  // namespace selvage::topo
