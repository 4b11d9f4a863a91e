#pragma once

#include <selvage/topo/figure.hpp>
#include <selvage/topo/gpu.hpp>

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace selvage::topo {

/// A core of a host and what it shares with others; what isn't set is unknown.
struct Core {
  /// Among the host's cores that its control group allows, as Open MPI counts them; none where it forbids this one.
  std::optional<int> number;
  std::vector<int> cpus;         ///< its hardware threads, operating-system numbers, ascending
  std::optional<int> package;    ///< a number within the host
  std::optional<int> numa_node;  ///< operating-system number
  std::optional<int> l3_cache;   ///< a number within the host

  friend bool operator==(const Core&, const Core&) = default;
};

/// One shared-memory host as MPI sees it: its ranks can map each other's memory.
///
/// Hosts are numbered in the order of their lowest rank. The inventory is the whole host's, also where the
/// job may use only a part of it.
struct PhysicalHost {
  std::string name;               ///< MPI_Get_processor_name on its lowest rank
  Figure<std::string> boot_id;    ///< the kernel's, tells machines of the same name apart
  std::vector<int> ranks;         ///< ascending
  Figure<std::string> processor;  ///< model name of its first processor
  Figure<int> packages;
  Figure<int> cores;
  Figure<int> cpus;  ///< hardware threads
  Figure<int> numa_nodes;
  Figure<int> l3_caches;
  Figure<std::uint64_t> l3_bytes;  ///< all L3 caches together
  Figure<std::uint64_t> memory_bytes;
  Figure<std::vector<Core>> core_list;   ///< neighbours in it share most; `cores` are its number
  Figure<std::vector<int>> usable_cpus;  ///< hardware threads that at least one rank may run on, ascending
  Figure<std::vector<Gpu>> gpus;         ///< known and empty: looked, none there
  std::vector<GpuPair> gpu_pairs;        ///< each two of `gpus`, in their order
  Figure<std::vector<std::string>>
      switches;  ///< of the network, from the top down to the one it hangs on, as Slurm says

  friend bool operator==(const PhysicalHost&, const PhysicalHost&) = default;
};

/// A group of ranks that Selvage treats as one host; see Machine::host_of.
struct LogicalHost {
  int physical_host = 0;
  std::vector<int> ranks;  ///< ascending

  friend bool operator==(const LogicalHost&, const LogicalHost&) = default;
};

/// Where one rank runs.
struct RankPlace {
  int host = 0;                   ///< logical host
  int physical_host = 0;          ///< index into Machine::physical_hosts()
  int rank_in_host = 0;           ///< among the ranks of its logical host, in rank order
  Figure<std::vector<int>> cpus;  ///< hardware threads it may run on, operating-system numbers, ascending
  Figure<int> cores;              ///< physical cores that those hardware threads belong to
  Figure<std::vector<int>> numa_nodes;  ///< operating-system numbers of their NUMA nodes, ascending
  Figure<double> cpu_quota;  ///< processors' worth of time that the control group grants; often unlimited
  Figure<std::string> gpu_pci_bus_id;  ///< the GPU it uses, as the caller of detect() said
  Figure<std::string> gpu_uuid;        ///< the same GPU, found in the host's inventory

  friend bool operator==(const RankPlace&, const RankPlace&) = default;
};

/// What a Machine is made from; also the way to describe a pretended one.
struct MachineParts {
  std::vector<PhysicalHost> physical_hosts;
  std::vector<RankPlace> ranks;
  std::string mpi_library;                    ///< first line of MPI_Get_library_version
  Figure<std::string> logical_hosts_setting;  ///< SELVAGE_LOGICAL_HOSTS where it was set
};

/// The hosts, processors and GPUs of a job and where its ranks run. A value: copy it freely.
///
/// Every `rank` is a rank of the communicator given to detect(). Out-of-range arguments throw Error{usage}.
class Machine {
 public:
  Machine() = default;

  /// Fills in what follows from the parts: lists of ranks, logical hosts, oversubscription. Not collective.
  ///
  /// Reads each rank's `host` and `physical_host`; overwrites `rank_in_host` and the hosts' `ranks`.
  /// \throws Error{usage} when an index is out of range, a host has no rank, or a logical host spans physical
  /// ones
  explicit Machine(MachineParts parts);

  [[nodiscard]] int rank_count() const { return static_cast<int>(ranks_.size()); }
  /// Number of logical hosts.
  [[nodiscard]] int host_count() const { return static_cast<int>(hosts_.size()); }

  /// The logical host of a rank: its physical host, unless SELVAGE_LOGICAL_HOSTS splits that.
  [[nodiscard]] int host_of(int rank) const { return place(rank).host; }
  /// The ranks of a logical host, ascending.
  [[nodiscard]] const std::vector<int>& ranks_of_host(int host) const;
  [[nodiscard]] bool same_host(int a, int b) const { return host_of(a) == host_of(b); }
  [[nodiscard]] bool same_physical_host(int a, int b) const;
  /// Whether two ranks are known to use one GPU; false when either's GPU is unknown.
  [[nodiscard]] bool same_gpu(int a, int b) const;
  /// The GPU that a rank uses, in its host's inventory; null when unknown. Its near_cpus are the cores to run on.
  [[nodiscard]] const Gpu* gpu_of(int rank) const;
  /// What is known between the GPUs of two ranks; null when they use the same one, one is unknown, or they are on
  /// different physical hosts.
  [[nodiscard]] const GpuPair* gpu_pair(int a, int b) const;
  /// How the GPUs of two ranks reach each other; unknown when either's GPU is, or on different physical hosts.
  [[nodiscard]] GpuLevel gpu_level(int a, int b) const;

  /// Whether the ranks that share this rank's processors outnumber them, so that a waiting rank must yield.
  ///
  /// Processors are the distinct hardware threads that those ranks may run on, or the control group's quota
  /// of processor time if that is less. Where neither is known the answer is true: yielding is the safe
  /// choice.
  [[nodiscard]] bool ranks_exceed_cores(int rank) const;

  [[nodiscard]] const RankPlace& place(int rank) const;
  [[nodiscard]] const std::vector<RankPlace>& ranks() const { return ranks_; }
  [[nodiscard]] const std::vector<LogicalHost>& hosts() const { return hosts_; }
  [[nodiscard]] const std::vector<PhysicalHost>& physical_hosts() const { return physical_hosts_; }
  [[nodiscard]] const std::string& mpi_library() const { return mpi_library_; }
  /// The value of SELVAGE_LOGICAL_HOSTS that was followed; unknown when it was not set.
  [[nodiscard]] const Figure<std::string>& logical_hosts_setting() const { return logical_hosts_setting_; }

  friend bool operator==(const Machine&, const Machine&) = default;

 private:
  std::vector<PhysicalHost> physical_hosts_;
  std::vector<LogicalHost> hosts_;
  std::vector<RankPlace> ranks_;
  std::vector<bool> exceeds_;  // per physical host
  std::string mpi_library_;
  Figure<std::string> logical_hosts_setting_;
};

/// What detect() takes from this rank's caller. Each rank has its own.
struct DetectOptions {
  /// PCI bus id of the GPU that this rank uses, as cudaDeviceGetPCIBusId writes it; empty for none.
  std::string gpu_pci_bus_id;
  /// Waits until MPI is through with a request, for callers that don't wait for ever; empty for MPI_Wait. Given what is
  /// waited for. Where it throws, MPI keeps the request and its memory.
  std::function<void(MPI_Request&, std::string_view)> wait = {};
};

/// Finds the machine under a communicator. Collective; every rank gets an equal Machine.
///
/// What can't be found out is left unknown, with the reason. SELVAGE_LOGICAL_HOSTS=HxR splits each physical
/// host's ranks, in rank order, into pretended hosts of R ranks, H in all; 3+1 into hosts of three and one.
/// \throws Error{input} on every rank when SELVAGE_LOGICAL_HOSTS is malformed, differs between ranks or
///         doesn't fit the job, or when a rank's gpu_pci_bus_id is not a PCI bus id; Error{mpi} when MPI
///         fails
[[nodiscard]] Machine detect(MPI_Comm comm, const DetectOptions& options = {});

/// The same machine, where ranks without a GPU take those of their physical host in turn, as Kokkos chooses them unless
/// told otherwise. Not collective.
[[nodiscard]] Machine with_gpus_in_turn(const Machine& machine);

/// What the job's physical hosts are made of, in one line: processors, cores and GPUs of each kind of host, without names,
/// numbers of hosts and ranks, or what changes from boot to boot. Equal hardware gives equal text, so that what was
/// measured on one job's hosts can be found again by another job.
[[nodiscard]] std::string hardware_signature(const Machine& machine);

/// Lower case with a domain of four digits, or more where it needs them: "00000000:1B:00.0" ->
/// "0000:1b:00.0".
/// \return an empty string when `text` is not a PCI bus id
[[nodiscard]] std::string normalized_pci_bus_id(const std::string& text);

/// The machine as JSON text, one object, two spaces of indentation.
///
/// Each figure is {"value": ..., "source": "hwloc"} or {"value": null, "unknown": "the reason"}; units are in
/// the names (`memory_bytes`). Text only, so that no JSON library shows in this interface.
[[nodiscard]] std::string to_json(const Machine& machine);

/// What to_json() wrote. What follows from the rest (`hosts`, `rank_in_host`, `ranks_exceed_cores`) isn't read.
/// \param name  what errors call the text, such as the file's name
/// \throws Error{input} that names the place in the text
[[nodiscard]] Machine machine_from_json(std::string_view text, const std::string& name);

/// The machine as a table for people, ending in a newline; says what is unknown and why.
[[nodiscard]] std::string describe(const Machine& machine);

}  // namespace selvage::topo
