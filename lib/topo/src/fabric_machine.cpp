#include "networks/tree.hpp"

#include <selvage/error.hpp>
#include <selvage/topo/fabric.hpp>

#include <fmt/format.h>

namespace selvage::topo {
namespace {

FabricHost host_of(const Machine& machine, int host, const MachineCosts& costs) {
  const std::vector<int>& ranks = machine.ranks_of_host(host);
  FabricHost out{.name = machine.physical_hosts()[machine.hosts()[host].physical_host].name,
                 .slots = static_cast<int>(ranks.size()),
                 .slot_costs = {}};
  for (const int a : ranks) {
    for (const int b : ranks)
      out.slot_costs.push_back(machine.same_gpu(a, b) ? costs.same_gpu : costs.same_host);
  }
  return out;
}

}  // namespace

Fabric fabric_from_machine(const Machine& machine, const MachineCosts& costs) {
  if (machine.rank_count() == 0) throw Error(ErrorKind::input, "a machine without ranks has no slots");
  FabricParts parts;
  parts.description =
      fmt::format("machine, {} ranks on {} hosts", machine.rank_count(), machine.host_count());
  std::vector<std::string> names;
  for (int host = 0; host < machine.host_count(); ++host) {
    parts.hosts.push_back(host_of(machine, host, costs));
    names.push_back(parts.hosts.back().name);
  }
  const std::size_t hosts = parts.hosts.size();
  parts.host_costs.assign(hosts * hosts, costs.other_host);
  for (int rank = 0; rank < machine.rank_count(); ++rank) parts.slot_hosts.push_back(machine.host_of(rank));
  parts.network = std::make_shared<const TreeNetwork>(star_network(names));
  return Fabric(std::move(parts));
}

}  // namespace selvage::topo
