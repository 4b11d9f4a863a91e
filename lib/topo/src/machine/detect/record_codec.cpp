#include "records.hpp"
#include "text/bytes.hpp"

namespace selvage::topo {

void fields(auto& bytes, IsA<Core> auto& core) {
  bytes(core.number, core.cpus, core.package, core.numa_node, core.l3_cache);
}

void fields(auto& bytes, IsA<HardwareThread> auto& thread) {
  bytes(thread.cpu, thread.core, thread.numa_node);
}

void fields(auto& bytes, IsA<NvLink> auto& link) {
  bytes(link.end, link.pci_bus_id, link.version, link.gb_per_s);
}

void fields(auto& bytes, IsA<GpuFabric> auto& fabric) {
  bytes(fabric.cluster, fabric.clique);
}

void fields(auto& bytes, IsA<Gpu> auto& gpu) {
  bytes(gpu.name, gpu.uuid, gpu.pci_bus_id, gpu.memory_bytes, gpu.numa_node, gpu.near_cpus, gpu.links,
        gpu.fabric);
}

void fields(auto& bytes, IsA<GpuPair> auto& pair) {
  bytes(pair.first, pair.second, pair.level, pair.nvlinks, pair.nvlink_gb_per_s, pair.ancestor, pair.read,
        pair.write, pair.over_nvlink, pair.atomics);
}

void fields(auto& bytes, IsA<HostInventory> auto& host) {
  bytes(host.processor, host.packages, host.cores, host.cpus, host.numa_nodes, host.l3_caches, host.l3_bytes,
        host.memory_bytes, host.core_list, host.allowed_cpus, host.threads, host.gpus, host.gpu_pairs);
}

void fields(auto& bytes, IsA<RankRecord> auto& record) {
  bytes(record.host_leader, record.processor_name, record.boot_id, record.affinity, record.cpu_quota,
        record.gpu_pci_bus_id, record.logical_hosts, record.mpi_library, record.switches, record.inventory);
}

std::vector<std::uint8_t> pack_record(const RankRecord& record) {
  ByteWriter bytes;
  bytes(record);
  return std::move(bytes).take();
}

RankRecord unpack_record(const std::uint8_t* begin, const std::uint8_t* end) {
  RankRecord record;
  ByteReader(begin, end)(record);
  return record;
}

}  // namespace selvage::topo
