#include "pretended_ranks.hpp"

#include <selvage/error.hpp>
#include <selvage/topo/fabric.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace selvage::topo {
namespace {

PhysicalHost physical_host_of(const HostOfFile& host) {
  PhysicalHost out = host_of(host.name, host.inventory);
  const std::string reason = "the file doesn't tell";
  out.boot_id = Figure<std::string>::unknown(reason);
  out.switches = Figure<std::vector<std::string>>::unknown(reason);
  out.usable_cpus = host.inventory.allowed_cpus;
  return out;
}

Figure<std::vector<int>> numa_nodes_of(const CpuList& cpus, const HostInventory& inventory) {
  std::set<int> nodes;
  for (const HardwareThread& thread : inventory.threads) {
    if (std::ranges::binary_search(cpus, thread.cpu) && thread.numa_node >= 0) nodes.insert(thread.numa_node);
  }
  return nodes.empty() ? Figure<std::vector<int>>::unknown("the file doesn't tell")
                       : Figure<std::vector<int>>::known({nodes.begin(), nodes.end()}, Source::file);
}

RankPlace place_of(int host, const Figure<CpuList>& cpus, const HostInventory& inventory) {
  const std::string reason = "the rank is pretended";
  RankPlace place;
  place.host = place.physical_host = host;
  place.cpus = cpus;
  place.cores = Figure<int>::unknown(reason);
  place.numa_nodes = numa_nodes_of(cpus.value_or({}), inventory);
  place.cpu_quota = Figure<double>::unknown(reason);
  place.gpu_pci_bus_id = place.gpu_uuid = Figure<std::string>::unknown("the host has no GPU");
  return place;
}

void add_ranks(int number, const HostOfFile& host, std::vector<RankPlace>& ranks) {
  const std::vector<Gpu> gpus = host.inventory.gpus.value_or({});
  for (const Gpu& gpu : gpus) {
    RankPlace& place = ranks.emplace_back(place_of(number, gpu.near_cpus, host.inventory));
    place.gpu_pci_bus_id = Figure<std::string>::known(gpu.pci_bus_id, Source::file);
    place.gpu_uuid = gpu.uuid.empty() ? Figure<std::string>::unknown("the file doesn't tell")
                                      : Figure<std::string>::known(gpu.uuid, Source::file);
  }
  if (!gpus.empty()) return;
  for (const Core& core : host.inventory.core_list.value_or({}))
    ranks.push_back(place_of(number, Figure<CpuList>::known(core.cpus, Source::file), host.inventory));
}

}  // namespace

Machine machine_with_pretended_ranks(const std::vector<HostOfFile>& hosts, const std::string& name) {
  MachineParts parts;
  parts.logical_hosts_setting = Figure<std::string>::unknown("not set");
  for (const HostOfFile& host : hosts) {
    const std::size_t before = parts.ranks.size();
    add_ranks(static_cast<int>(parts.physical_hosts.size()), host, parts.ranks);
    if (parts.ranks.size() == before)
      throw Error(ErrorKind::input, fmt::format("{}: {} has neither GPUs nor cores", name, host.name));
    if (parts.ranks.size() > static_cast<std::size_t>(Fabric::max_slots))
      throw Error(ErrorKind::input, fmt::format("{}: more than {} GPUs and cores", name, Fabric::max_slots));
    parts.physical_hosts.push_back(physical_host_of(host));
  }
  return Machine(std::move(parts));
}

}  // namespace selvage::topo
