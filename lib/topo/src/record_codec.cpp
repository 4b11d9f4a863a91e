#include "records.hpp"

#include <nlohmann/json.hpp>

namespace selvage::topo {
namespace {

using nlohmann::json;

template <typename T>
json encode(const Figure<T>& figure) {
  if (!figure.is_known()) return json::array({figure.reason()});
  return json::array({figure.value(), static_cast<int>(figure.source())});
}

template <typename T>
void decode(const json& from, Figure<T>& figure) {
  figure = from.size() == 1 ? Figure<T>::unknown(from.at(0).get<std::string>())
                            : Figure<T>::known(from.at(0).get<T>(), from.at(1).get<Source>());
}

}  // namespace

void to_json(json& to, const Gpu& gpu) {
  to = {gpu.name, gpu.uuid, gpu.pci_bus_id, encode(gpu.memory_bytes), encode(gpu.numa_node)};
}

void from_json(const json& from, Gpu& gpu) {
  from.at(0).get_to(gpu.name);
  from.at(1).get_to(gpu.uuid);
  from.at(2).get_to(gpu.pci_bus_id);
  decode(from.at(3), gpu.memory_bytes);
  decode(from.at(4), gpu.numa_node);
}

void to_json(json& to, const HardwareThread& thread) {
  to = {thread.cpu, thread.core, thread.numa_node};
}

void from_json(const json& from, HardwareThread& thread) {
  from.at(0).get_to(thread.cpu);
  from.at(1).get_to(thread.core);
  from.at(2).get_to(thread.numa_node);
}

void to_json(json& to, const HostInventory& host) {
  to = {{"processor", encode(host.processor)},
        {"packages", encode(host.packages)},
        {"cores", encode(host.cores)},
        {"cpus", encode(host.cpus)},
        {"numa_nodes", encode(host.numa_nodes)},
        {"l3_caches", encode(host.l3_caches)},
        {"l3_bytes", encode(host.l3_bytes)},
        {"memory", encode(host.memory_bytes)},
        {"allowed_cpus", encode(host.allowed_cpus)},
        {"threads", host.threads},
        {"gpus", encode(host.gpus)}};
}

void from_json(const json& from, HostInventory& host) {
  decode(from.at("processor"), host.processor);
  decode(from.at("packages"), host.packages);
  decode(from.at("cores"), host.cores);
  decode(from.at("cpus"), host.cpus);
  decode(from.at("numa_nodes"), host.numa_nodes);
  decode(from.at("l3_caches"), host.l3_caches);
  decode(from.at("l3_bytes"), host.l3_bytes);
  decode(from.at("memory"), host.memory_bytes);
  decode(from.at("allowed_cpus"), host.allowed_cpus);
  from.at("threads").get_to(host.threads);
  decode(from.at("gpus"), host.gpus);
}

std::vector<std::uint8_t> pack_record(const RankRecord& record) {
  json to = {{"leader", record.host_leader},      {"name", record.processor_name},
             {"boot_id", encode(record.boot_id)}, {"affinity", encode(record.affinity)},
             {"quota", encode(record.cpu_quota)}, {"gpu", record.gpu_pci_bus_id},
             {"mpi", record.mpi_library}};
  if (record.logical_hosts) to["logical_hosts"] = *record.logical_hosts;
  if (record.inventory) to["inventory"] = *record.inventory;
  return json::to_cbor(to);
}

RankRecord unpack_record(const std::uint8_t* begin, const std::uint8_t* end) {
  const json from = json::from_cbor(begin, end);
  RankRecord record;
  from.at("leader").get_to(record.host_leader);
  from.at("name").get_to(record.processor_name);
  decode(from.at("boot_id"), record.boot_id);
  decode(from.at("affinity"), record.affinity);
  decode(from.at("quota"), record.cpu_quota);
  from.at("gpu").get_to(record.gpu_pci_bus_id);
  from.at("mpi").get_to(record.mpi_library);
  if (from.contains("logical_hosts")) record.logical_hosts = from.at("logical_hosts").get<std::string>();
  if (from.contains("inventory")) record.inventory = from.at("inventory").get<HostInventory>();
  return record;
}

}  // namespace selvage::topo
