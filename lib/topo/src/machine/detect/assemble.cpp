#include "logical_hosts.hpp"
#include "records.hpp"

#include <selvage/counted.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace selvage::topo {
namespace {

using CpuList = std::vector<int>;

PhysicalHost make_host(const RankRecord& leader) {
  PhysicalHost host =
      host_of(leader.processor_name,
              leader.inventory.value_or(unknown_inventory("its lowest rank sent no inventory")));
  host.boot_id = leader.boot_id;
  host.switches = leader.switches;
  return host;
}

// The scheduler's mask, less what the host's control group forbids. A rank in another control group than its
// host's leader can have nothing in common with the leader's set; then its own mask stands.
Figure<CpuList> usable_cpus(const Figure<CpuList>& affinity, const Figure<CpuList>& allowed) {
  if (!affinity.is_known() || !allowed.is_known()) return affinity;
  CpuList both;
  std::ranges::set_intersection(affinity.value(), allowed.value(), std::back_inserter(both));
  return both.empty() ? affinity : Figure<CpuList>::known(std::move(both), affinity.source());
}

void place_on_cores(RankPlace& place, const HostInventory& inventory) {
  if (inventory.threads.empty() || !place.cpus.is_known()) {
    const std::string reason = place.cpus.is_known() ? inventory.cores.reason() : place.cpus.reason();
    place.cores = Figure<int>::unknown(reason);
    place.numa_nodes = Figure<std::vector<int>>::unknown(reason);
    return;
  }
  std::set<int> cores;
  std::set<int> nodes;
  for (const HardwareThread& thread : inventory.threads) {
    if (!std::ranges::binary_search(place.cpus.value(), thread.cpu)) continue;
    cores.insert(thread.core);
    if (thread.numa_node >= 0) nodes.insert(thread.numa_node);
  }
  place.cores = Figure<int>::known(static_cast<int>(cores.size()), Source::hwloc);
  place.numa_nodes = nodes.empty()
                         ? Figure<std::vector<int>>::unknown("hwloc shows no NUMA node for its processors")
                         : Figure<std::vector<int>>::known({nodes.begin(), nodes.end()}, Source::hwloc);
}

void place_on_gpu(RankPlace& place, int rank, const std::string& given,
                  const Figure<std::vector<Gpu>>& gpus) {
  if (given.empty()) {
    place.gpu_pci_bus_id = place.gpu_uuid = Figure<std::string>::unknown("the caller named none");
    return;
  }
  const std::string id = normalized_pci_bus_id(given);
  if (id.empty()) {
    throw Error(
        ErrorKind::input,
        fmt::format("rank {}: gpu_pci_bus_id '{}' is not a PCI bus id such as 0000:1b:00.0", rank, given));
  }
  place.gpu_pci_bus_id = Figure<std::string>::known(id, Source::caller);
  if (!gpus.is_known()) {
    place.gpu_uuid = Figure<std::string>::unknown(gpus.reason());
    return;
  }
  const auto found = std::ranges::find(gpus.value(), id, &Gpu::pci_bus_id);
  place.gpu_uuid = found != gpus.value().end()
                       ? Figure<std::string>::known(found->uuid, Source::nvml)
                       : Figure<std::string>::unknown(fmt::format("{} is not among the {} that NVML lists",
                                                                  id, counted(gpus.value().size(), "GPU")));
}

// Launchers pass the environment on to some hosts only, so the ranks that have the variable speak for all.
Figure<std::string> agreed_setting(const std::vector<RankRecord>& records) {
  auto setting = Figure<std::string>::unknown("not set");
  int from = 0;
  for (std::size_t rank = 0; rank < records.size(); ++rank) {
    const auto& text = records[rank].logical_hosts;
    if (!text) continue;
    if (!setting.is_known()) {
      setting = Figure<std::string>::known(*text, Source::environment);
      from = static_cast<int>(rank);
    } else if (setting.value() != *text) {
      throw Error(ErrorKind::input, fmt::format("{} is {} on rank {} but {} on rank {}",
                                                logical_hosts_variable, setting.value(), from, *text, rank));
    }
  }
  return setting;
}

std::vector<int> choose_logical_hosts(const std::vector<int>& physical, const Figure<std::string>& setting) {
  if (!setting.is_known()) return physical;
  return split_into_logical_hosts(physical, parse_logical_hosts(setting.value()), setting.value());
}

void collect_usable_cpus(MachineParts& parts) {
  std::vector<std::set<int>> all(parts.physical_hosts.size());
  for (const RankPlace& place : parts.ranks) {
    if (place.cpus.is_known()) {
      all[place.physical_host].insert(place.cpus.value().begin(), place.cpus.value().end());
    } else {
      parts.physical_hosts[place.physical_host].usable_cpus = place.cpus;
    }
  }
  for (std::size_t host = 0; host < all.size(); ++host) {
    if (all[host].empty()) continue;
    parts.physical_hosts[host].usable_cpus =
        Figure<CpuList>::known({all[host].begin(), all[host].end()}, Source::kernel);
  }
}

}  // namespace

PhysicalHost host_of(const std::string& name, const HostInventory& inventory) {
  PhysicalHost host;
  host.name = name;
  host.processor = inventory.processor;
  host.packages = inventory.packages;
  host.cores = inventory.cores;
  host.cpus = inventory.cpus;
  host.numa_nodes = inventory.numa_nodes;
  host.l3_caches = inventory.l3_caches;
  host.l3_bytes = inventory.l3_bytes;
  host.memory_bytes = inventory.memory_bytes;
  host.core_list = inventory.core_list;
  host.gpus = inventory.gpus;
  host.gpu_pairs = inventory.gpu_pairs;
  return host;
}

Machine assemble(const std::vector<RankRecord>& records) {
  MachineParts parts;
  parts.mpi_library = records.front().mpi_library;
  std::map<int, int> number_of_leader;
  std::vector<int> physical;
  for (const RankRecord& record : records) {
    const auto next = static_cast<int>(number_of_leader.size());
    const auto [entry, is_new] = number_of_leader.try_emplace(record.host_leader, next);
    if (is_new) parts.physical_hosts.push_back(make_host(records.at(record.host_leader)));
    physical.push_back(entry->second);
  }
  parts.logical_hosts_setting = agreed_setting(records);
  const std::vector<int> logical = choose_logical_hosts(physical, parts.logical_hosts_setting);
  const HostInventory nothing = unknown_inventory("its lowest rank sent no inventory");
  for (std::size_t rank = 0; rank < records.size(); ++rank) {
    const RankRecord& record = records[rank];
    const auto& leader = records.at(record.host_leader).inventory;
    const HostInventory& inventory = leader ? *leader : nothing;
    RankPlace place;
    place.host = logical[rank];
    place.physical_host = physical[rank];
    place.cpu_quota = record.cpu_quota;
    place.cpus = usable_cpus(record.affinity, inventory.allowed_cpus);
    place_on_cores(place, inventory);
    place_on_gpu(place, static_cast<int>(rank), record.gpu_pci_bus_id, inventory.gpus);
    parts.ranks.push_back(std::move(place));
  }
  collect_usable_cpus(parts);
  return Machine(std::move(parts));
}

}  // namespace selvage::topo
