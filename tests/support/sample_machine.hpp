#pragma once

#include <selvage/topo/machine.hpp>

#include <string>
#include <utility>
#include <vector>

namespace selvage::topo {

/// A physical host of which the name, and the boot id where not empty, are known.
inline PhysicalHost host_named(const std::string& name, const std::string& boot_id = "") {
  PhysicalHost host;
  host.name = name;
  if (!boot_id.empty()) host.boot_id = Figure<std::string>::known(boot_id, Source::kernel);
  return host;
}

/// A rank that may run on `cpus` of a host.
inline RankPlace rank_on(int physical_host, std::vector<int> cpus) {
  RankPlace place;
  place.host = place.physical_host = physical_host;
  place.cpus = Figure<std::vector<int>>::known(std::move(cpus), Source::kernel);
  return place;
}

/// The same with a GPU; an empty `uuid` is an unknown one.
inline RankPlace rank_with_gpu(int physical_host, const std::string& bus_id, const std::string& uuid = "") {
  RankPlace place = rank_on(physical_host, {0});
  place.gpu_pci_bus_id = Figure<std::string>::known(bus_id, Source::caller);
  if (!uuid.empty()) place.gpu_uuid = Figure<std::string>::known(uuid, Source::nvml);
  return place;
}

/// Two GPUs at a level, and the links between them where it has any.
struct SampleLink {
  int first = 0;
  int second = 0;
  GpuLevel level = GpuLevel::unknown;
  int nvlinks = 0;
};

/// A host with GPUs "0000:00:00.0", "0000:01:00.0" and so on, each link of 25 GB/s; pairs that aren't named are far apart.
inline PhysicalHost host_with_gpus(const std::string& name, int count, const std::vector<SampleLink>& links) {
  PhysicalHost host = host_named(name);
  std::vector<Gpu> gpus(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    gpus[i].uuid = name + "-GPU-" + std::to_string(i);
    gpus[i].pci_bus_id = "0000:0" + std::to_string(i) + ":00.0";
  }
  for (int first = 0; first < count; ++first) {
    for (int second = first + 1; second < count; ++second) {
      GpuPair& pair = host.gpu_pairs.emplace_back();
      pair.first = gpus[static_cast<std::size_t>(first)].pci_bus_id;
      pair.second = gpus[static_cast<std::size_t>(second)].pci_bus_id;
      pair.level = GpuLevel::system;
      for (const SampleLink& link : links) {
        if (link.first != first || link.second != second) continue;
        pair.level = link.level;
        pair.nvlinks = link.nvlinks;
        if (link.nvlinks > 0) pair.nvlink_gb_per_s = Figure<double>::known(25.0 * link.nvlinks, Source::nvml);
      }
    }
  }
  host.gpus = Figure<std::vector<Gpu>>::known(std::move(gpus), Source::nvml);
  return host;
}

/// A host of cores 0, 1, ... with a hardware thread each; `l3_size` of them share a cache, `node_size` a NUMA node, which
/// is a package.
inline PhysicalHost host_with_cores(const std::string& name, int count, int l3_size, int node_size) {
  PhysicalHost host = host_named(name);
  std::vector<Core> cores;
  for (int core = 0; core < count; ++core) {
    cores.push_back({.number = core,
                     .cpus = {core},
                     .package = core / node_size,
                     .numa_node = core / node_size,
                     .l3_cache = core / l3_size});
  }
  host.core_list = Figure<std::vector<Core>>::known(std::move(cores), Source::hwloc);
  return host;
}

inline Machine machine_of(std::vector<PhysicalHost> hosts, std::vector<RankPlace> ranks) {
  return Machine({.physical_hosts = std::move(hosts),
                  .ranks = std::move(ranks),
                  .mpi_library = "Some MPI 1.0",
                  .logical_hosts_setting = Figure<std::string>::unknown("not set")});
}

}  // namespace selvage::topo
