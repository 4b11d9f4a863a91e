#include "machine/machine_json.hpp"
#include "records.hpp"

namespace selvage::topo {
namespace {

Json json_of_thread(const HardwareThread& thread) {
  return {thread.cpu, thread.core, thread.numa_node};
}

HardwareThread thread_of(const Json& from) {
  return {.cpu = from.at(0).get<int>(), .core = from.at(1).get<int>(), .numa_node = from.at(2).get<int>()};
}

Json json_of_inventory(const HostInventory& host) {
  Json threads = Json::array();
  for (const HardwareThread& thread : host.threads) threads.push_back(json_of_thread(thread));
  return {{"processor", json_of(host.processor)},   {"packages", json_of(host.packages)},
          {"cores", json_of(host.cores)},           {"cpus", json_of(host.cpus)},
          {"numa_nodes", json_of(host.numa_nodes)}, {"l3_caches", json_of(host.l3_caches)},
          {"l3_bytes", json_of(host.l3_bytes)},     {"memory", json_of(host.memory_bytes)},
          {"core_list", json_of(host.core_list)},   {"allowed_cpus", json_of(host.allowed_cpus)},
          {"threads", std::move(threads)},          {"gpus", json_of(host.gpus)},
          {"gpu_pairs", json_of(host.gpu_pairs)}};
}

HostInventory inventory_of(const Json& from) {
  const JsonValue value(from, "a record's inventory");
  HostInventory host;
  read(value, "processor", host.processor);
  read(value, "packages", host.packages);
  read(value, "cores", host.cores);
  read(value, "cpus", host.cpus);
  read(value, "numa_nodes", host.numa_nodes);
  read(value, "l3_caches", host.l3_caches);
  read(value, "l3_bytes", host.l3_bytes);
  read(value, "memory", host.memory_bytes);
  read(value, "core_list", host.core_list);
  read(value, "allowed_cpus", host.allowed_cpus);
  for (const Json& thread : from.at("threads")) host.threads.push_back(thread_of(thread));
  read(value, "gpus", host.gpus);
  read(value, "gpu_pairs", host.gpu_pairs);
  return host;
}

}  // namespace

std::vector<std::uint8_t> pack_record(const RankRecord& record) {
  Json to = {{"leader", record.host_leader},       {"name", record.processor_name},
             {"boot_id", json_of(record.boot_id)}, {"affinity", json_of(record.affinity)},
             {"quota", json_of(record.cpu_quota)}, {"gpu", record.gpu_pci_bus_id},
             {"mpi", record.mpi_library},          {"switches", json_of(record.switches)}};
  if (record.logical_hosts) to["logical_hosts"] = *record.logical_hosts;
  if (record.inventory) to["inventory"] = json_of_inventory(*record.inventory);
  return Json::to_cbor(to);
}

RankRecord unpack_record(const std::uint8_t* begin, const std::uint8_t* end) {
  const Json from = Json::from_cbor(begin, end);
  const JsonValue value(from, "a rank's record");
  RankRecord record;
  read(value, "leader", record.host_leader);
  read(value, "name", record.processor_name);
  read(value, "boot_id", record.boot_id);
  read(value, "affinity", record.affinity);
  read(value, "quota", record.cpu_quota);
  read(value, "gpu", record.gpu_pci_bus_id);
  read(value, "mpi", record.mpi_library);
  read(value, "switches", record.switches);
  if (from.contains("logical_hosts")) record.logical_hosts = from.at("logical_hosts").get<std::string>();
  if (from.contains("inventory")) record.inventory = inventory_of(from.at("inventory"));
  return record;
}

}  // namespace selvage::topo
