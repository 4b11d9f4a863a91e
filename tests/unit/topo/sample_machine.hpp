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

inline Machine machine_of(std::vector<PhysicalHost> hosts, std::vector<RankPlace> ranks) {
  return Machine({.physical_hosts = std::move(hosts),
                  .ranks = std::move(ranks),
                  .mpi_library = "Some MPI 1.0",
                  .logical_hosts_setting = Figure<std::string>::unknown("not set")});
}

}  // namespace selvage::topo
