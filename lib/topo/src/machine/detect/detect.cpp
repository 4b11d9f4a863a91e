#include "cgroup.hpp"
#include "logical_hosts.hpp"
#include "records.hpp"
#include "wait_keeping.hpp"

#include <selvage/environment.hpp>
#include <selvage/error.hpp>
#include <selvage/topo/machine.hpp>

#include <exception>
#include <fstream>
#include <memory>
#include <numeric>

namespace selvage::topo {
namespace {

std::string processor_name() {
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  check_mpi(MPI_Get_processor_name(name, &length), "MPI_Get_processor_name");
  return {name, static_cast<std::size_t>(length)};
}

// Some libraries answer with a page of build options; the first line holds name and version.
std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  check_mpi(MPI_Get_library_version(text, &length), "MPI_Get_library_version");
  const std::string all(text, static_cast<std::size_t>(length));
  return all.substr(0, all.find_first_of(",\n"));
}

// Asked once, since NVML takes half a second on a host of four GPUs. The GPUs stay the same as long as the process runs.
const GpuInventory& gpus_of_host() {
  static const GpuInventory gpus = gpus_from_nvml();
  return gpus;
}

// The other ranks wait for this one's record, so nothing may be thrown from here.
HostInventory take_inventory() {
  try {
    HostInventory inventory = inventory_from_hwloc();
    std::ifstream cpu_info("/proc/cpuinfo");
    inventory.processor = processor_model(cpu_info);
    inventory.gpus = gpus_of_host().gpus;
    inventory.gpu_pairs = gpus_of_host().pairs;
    return inventory;
  } catch (const std::exception& error) {
    return unknown_inventory(error.what());
  }
}

RankRecord examine_own_rank(MPI_Comm comm, const DetectOptions& options, const Wait& wait) {
  RankRecord record;
  record.processor_name = processor_name();
  record.boot_id = boot_id();
  record.affinity = scheduler_affinity();
  record.cpu_quota = cpu_quota();
  record.gpu_pci_bus_id = options.gpu_pci_bus_id;
  record.logical_hosts = environment_text(logical_hosts_variable);
  record.mpi_library = mpi_library();
  record.switches =
      switches_of_address(environment_text("SLURM_TOPOLOGY_ADDR"),
                          environment_text("SLURM_TOPOLOGY_ADDR_PATTERN"), record.processor_name);
  record.host_leader = find_host_leader(comm, record, wait);
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  if (record.host_leader == rank) record.inventory = take_inventory();
  return record;
}

}  // namespace

HostInventory unknown_inventory(const std::string& reason) {
  HostInventory inventory;
  inventory.processor = Figure<std::string>::unknown(reason);
  inventory.packages = inventory.cores = inventory.cpus = Figure<int>::unknown(reason);
  inventory.numa_nodes = inventory.l3_caches = Figure<int>::unknown(reason);
  inventory.l3_bytes = inventory.memory_bytes = Figure<std::uint64_t>::unknown(reason);
  inventory.core_list = Figure<std::vector<Core>>::unknown(reason);
  inventory.allowed_cpus = Figure<std::vector<int>>::unknown(reason);
  inventory.gpus = Figure<std::vector<Gpu>>::unknown(reason);
  return inventory;
}

std::vector<RankRecord> share_records(MPI_Comm comm, const RankRecord& mine, const Wait& wait) {
  struct Buffers {
    std::vector<std::uint8_t> packed;
    int bytes;
    std::vector<int> counts;
    std::vector<int> offsets;
    std::vector<std::uint8_t> all;
  };
  int ranks = 0;
  check_mpi(MPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  auto buffers = std::make_unique<Buffers>();
  buffers->packed = pack_record(mine);
  buffers->bytes = static_cast<int>(buffers->packed.size());
  buffers->counts.resize(ranks);
  buffers->offsets.resize(ranks + 1);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallgather(&buffers->bytes, 1, MPI_INT, buffers->counts.data(), 1, MPI_INT, comm, &request),
            "MPI_Iallgather of record sizes");
  wait_keeping(buffers, request, wait);
  std::partial_sum(buffers->counts.begin(), buffers->counts.end(), buffers->offsets.begin() + 1);
  buffers->all.resize(buffers->offsets.back());
  check_mpi(MPI_Iallgatherv(buffers->packed.data(), buffers->bytes, MPI_BYTE, buffers->all.data(),
                            buffers->counts.data(), buffers->offsets.data(), MPI_BYTE, comm, &request),
            "MPI_Iallgatherv of records");
  wait_keeping(buffers, request, wait);
  std::vector<RankRecord> records;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::uint8_t* all = buffers->all.data();
    records.push_back(unpack_record(all + buffers->offsets[rank], all + buffers->offsets[rank + 1]));
  }
  return records;
}

Machine detect(MPI_Comm comm, const DetectOptions& options) {
  const Wait wait = options.wait ? options.wait : [](MPI_Request& request, std::string_view) {
    check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  };
  const RankRecord mine = examine_own_rank(comm, options, wait);
  return assemble(share_records(comm, mine, wait));
}

}  // namespace selvage::topo
