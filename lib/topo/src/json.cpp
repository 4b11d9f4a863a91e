#include <selvage/topo/machine.hpp>

#include <nlohmann/json.hpp>

namespace selvage::topo {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json figure_json(const Figure<T>& figure) {
  if (!figure.is_known()) return {{"value", nullptr}, {"unknown", figure.reason()}};
  return {{"value", figure.value()}, {"source", to_string(figure.source())}};
}

Json gpu_json(const Gpu& gpu) {
  return {{"name", gpu.name},
          {"uuid", gpu.uuid},
          {"pci_bus_id", gpu.pci_bus_id},
          {"memory_bytes", figure_json(gpu.memory_bytes)},
          {"numa_node", figure_json(gpu.numa_node)}};
}

Json gpus_json(const Figure<std::vector<Gpu>>& gpus) {
  if (!gpus.is_known()) return {{"value", nullptr}, {"unknown", gpus.reason()}};
  Json list = Json::array();
  for (const Gpu& gpu : gpus.value()) list.push_back(gpu_json(gpu));
  return {{"value", std::move(list)}, {"source", to_string(gpus.source())}};
}

Json physical_host_json(const PhysicalHost& host) {
  return {{"name", host.name},
          {"boot_id", figure_json(host.boot_id)},
          {"ranks", host.ranks},
          {"processor", figure_json(host.processor)},
          {"packages", figure_json(host.packages)},
          {"cores", figure_json(host.cores)},
          {"hardware_threads", figure_json(host.cpus)},
          {"numa_nodes", figure_json(host.numa_nodes)},
          {"l3_caches", figure_json(host.l3_caches)},
          {"l3_bytes", figure_json(host.l3_bytes)},
          {"memory_bytes", figure_json(host.memory_bytes)},
          {"usable_hardware_threads", figure_json(host.usable_cpus)},
          {"gpus", gpus_json(host.gpus)}};
}

Json rank_json(const Machine& machine, int rank) {
  const RankPlace& place = machine.place(rank);
  return {{"rank", rank},
          {"host", place.host},
          {"physical_host", place.physical_host},
          {"rank_in_host", place.rank_in_host},
          {"hardware_threads", figure_json(place.cpus)},
          {"cores", figure_json(place.cores)},
          {"numa_nodes", figure_json(place.numa_nodes)},
          {"cpu_quota_processors", figure_json(place.cpu_quota)},
          {"gpu_pci_bus_id", figure_json(place.gpu_pci_bus_id)},
          {"gpu_uuid", figure_json(place.gpu_uuid)},
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
                    {"logical_hosts_setting", figure_json(machine.logical_hosts_setting())},
                    {"rank_placement_source", to_string(Source::mpi)},
                    {"physical_hosts", std::move(physical_hosts)},
                    {"hosts", std::move(hosts)},
                    {"ranks", std::move(ranks)}};
  // Names come from drivers and files: a byte that is not UTF-8 must not end the program.
  return all.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace selvage::topo
