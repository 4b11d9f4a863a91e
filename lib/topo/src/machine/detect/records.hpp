#pragma once

#include <selvage/topo/machine.hpp>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace selvage::topo {

/// Where one hardware thread sits, in operating-system numbers except `core`, which is a number within the
/// host.
struct HardwareThread {
  int cpu = 0;
  int core = 0;
  int numa_node = -1;  ///< -1 when unknown
};

/// What one process sees of its whole host.
struct HostInventory {
  Figure<std::string> processor;
  Figure<int> packages;
  Figure<int> cores;
  Figure<int> cpus;
  Figure<int> numa_nodes;
  Figure<int> l3_caches;
  Figure<std::uint64_t> l3_bytes;
  Figure<std::uint64_t> memory_bytes;
  Figure<std::vector<Core>> core_list;
  Figure<std::vector<int>> allowed_cpus;
  std::vector<HardwareThread> threads;  ///< empty when unknown
  Figure<std::vector<Gpu>> gpus;
  std::vector<GpuPair> gpu_pairs;
};

/// What one rank knows before anything is gathered.
struct RankRecord {
  int host_leader = 0;  ///< lowest rank of its physical host
  std::string processor_name;
  Figure<std::string> boot_id;
  Figure<std::vector<int>> affinity;
  Figure<double> cpu_quota;
  std::string gpu_pci_bus_id;  ///< as the caller wrote it
  std::optional<std::string> logical_hosts;
  std::string mpi_library;
  Figure<std::vector<std::string>> switches;
  std::optional<HostInventory> inventory;  ///< from the host's leader only
};

/// What an inventory tells of a host; the rest isn't looked for yet.
[[nodiscard]] PhysicalHost host_of(const std::string& name, const HostInventory& inventory);

/// Every figure unknown for one reason.
[[nodiscard]] HostInventory unknown_inventory(const std::string& reason);

/// The processors, caches and memory of this host; `gpus` is left alone. Never throws.
[[nodiscard]] HostInventory inventory_from_hwloc();

/// The GPUs of this host and what lies between them.
struct GpuInventory {
  Figure<std::vector<Gpu>> gpus;
  std::vector<GpuPair> pairs;  ///< of each two GPUs, in their order
};

/// What NVIDIA's management library tells, opened at run time. Never throws.
[[nodiscard]] GpuInventory gpus_from_nvml(const char* library = "libnvidia-ml.so.1");

/// Fills in level, nvlinks and nvlink_gb_per_s of each pair, from the links of the GPUs, `over_nvlink` and `ancestor`.
///
/// Links whose ends are hidden count where the driver says that the pair has peer access over NVLink: they are taken for
/// links to switches if that holds for every pair of the host, for direct ones otherwise.
void find_levels(const std::vector<Gpu>& gpus, std::vector<GpuPair>& pairs);

/// Pairs grow with the square, and files can list anything.
inline constexpr std::size_t max_gpus_per_host = 1024;

/// One entry for each two GPUs, in their order, of which nothing is known.
/// \throws Error{input} for more than max_gpus_per_host
[[nodiscard]] std::vector<GpuPair> pairs_of(const std::vector<Gpu>& gpus);

/// The model of the first processor, from the text of /proc/cpuinfo.
[[nodiscard]] Figure<std::string> processor_model(std::istream& cpu_info);

/// The hardware threads on which the scheduler may run this process.
[[nodiscard]] Figure<std::vector<int>> scheduler_affinity();

/// The switches above a host, from SLURM_TOPOLOGY_ADDR and SLURM_TOPOLOGY_ADDR_PATTERN; unknown where they are not set,
/// name no switches, or were handed on from another node than `host`.
[[nodiscard]] Figure<std::vector<std::string>> switches_of_address(const std::optional<std::string>& address,
                                                                   const std::optional<std::string>& pattern,
                                                                   const std::string& host);

/// The kernel's boot id.
[[nodiscard]] Figure<std::string> boot_id();

/// See DetectOptions.
using Wait = std::function<void(MPI_Request&, std::string_view)>;

/// The lowest rank of `comm` that shares the running kernel, its shared memory and its processes with the caller. Collective.
[[nodiscard]] int find_host_leader(MPI_Comm comm, const RankRecord& record, const Wait& wait);

/// Brings every rank's record to every rank, in rank order. Collective.
[[nodiscard]] std::vector<RankRecord> share_records(MPI_Comm comm, const RankRecord& mine, const Wait& wait);

/// The machine that the records describe: a pure function, so equal records give equal machines and equal
/// errors.
[[nodiscard]] Machine assemble(const std::vector<RankRecord>& records);

/// One record as bytes and back; for messages between ranks of one job only.
[[nodiscard]] std::vector<std::uint8_t> pack_record(const RankRecord& record);
[[nodiscard]] RankRecord unpack_record(const std::uint8_t* begin, const std::uint8_t* end);

}  // namespace selvage::topo
