#include "machine_json.hpp"

namespace selvage::topo {
namespace {

Json physical_host_json(const PhysicalHost& host) {
  return {{"name", host.name},
          {"boot_id", json_of(host.boot_id)},
          {"ranks", host.ranks},
          {"processor", json_of(host.processor)},
          {"packages", json_of(host.packages)},
          {"cores", json_of(host.cores)},
          {"hardware_threads", json_of(host.cpus)},
          {"numa_nodes", json_of(host.numa_nodes)},
          {"l3_caches", json_of(host.l3_caches)},
          {"l3_bytes", json_of(host.l3_bytes)},
          {"memory_bytes", json_of(host.memory_bytes)},
          {"usable_hardware_threads", json_of(host.usable_cpus)},
          {"gpus", json_of(host.gpus)},
          {"gpu_pairs", json_of(host.gpu_pairs)}};
}

Json rank_json(const Machine& machine, int rank) {
  const RankPlace& place = machine.place(rank);
  return {{"rank", rank},
          {"host", place.host},
          {"physical_host", place.physical_host},
          {"rank_in_host", place.rank_in_host},
          {"hardware_threads", json_of(place.cpus)},
          {"cores", json_of(place.cores)},
          {"numa_nodes", json_of(place.numa_nodes)},
          {"cpu_quota_processors", json_of(place.cpu_quota)},
          {"gpu_pci_bus_id", json_of(place.gpu_pci_bus_id)},
          {"gpu_uuid", json_of(place.gpu_uuid)},
          {"ranks_exceed_cores", machine.ranks_exceed_cores(rank)}};
}

}  // namespace

std::string to_json(const Machine& machine) {
  Json hosts = Json::array();
  for (const LogicalHost& host : machine.hosts()) {
    hosts.push_back({{"physical_host", host.physical_host}, {"ranks", host.ranks}});
  }
  Json physical_hosts = Json::array();
  for (const PhysicalHost& host : machine.physical_hosts())
    physical_hosts.push_back(physical_host_json(host));
  Json ranks = Json::array();
  for (int rank = 0; rank < machine.rank_count(); ++rank) ranks.push_back(rank_json(machine, rank));
  const Json all = {{"mpi_library", {{"value", machine.mpi_library()}, {"source", to_string(Source::mpi)}}},
                    {"logical_hosts_setting", json_of(machine.logical_hosts_setting())},
                    {"rank_placement_source", to_string(Source::mpi)},
                    {"physical_hosts", std::move(physical_hosts)},
                    {"hosts", std::move(hosts)},
                    {"ranks", std::move(ranks)}};
  // Names come from drivers and files: a byte that is not UTF-8 must not end the program.
  return all.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace selvage::topo
