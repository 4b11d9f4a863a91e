#pragma once

#include <selvage/topo/fabric.hpp>
#include <selvage/topo/figure.hpp>
#include <selvage/topo/machine.hpp>

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace selvage::topo {

/// What probe() measures. The same on all ranks; sizes are in bytes of one message.
struct ProbeOptions {
  std::vector<std::size_t> latency_bytes = {1, 8, 64, 512, 1024, 2048};
  std::vector<std::size_t> bandwidth_bytes = {std::size_t{2} << 10, std::size_t{16} << 10,
                                              std::size_t{64} << 10, std::size_t{1} << 20,
                                              std::size_t{16} << 20};
  int repetitions = 5;    ///< of each figure; the median counts
  bool with_gpus = true;  ///< also between the GPUs of each host
};

/// What messages from one rank to another were seen to take.
struct ProbedPair {
  int from = 0;
  int to = 0;
  std::vector<double> latency_us;  ///< one way, half a round trip; per size of Probes::latency_bytes
  std::vector<double>
      gb_per_s;  ///< 1e9 bytes/s, while no other pair was measured; per size of bandwidth_bytes
  double gb_per_s_together =
      0;  ///< of the largest size while all ranks sent, each to one other: less where pairs share a link

  friend bool operator==(const ProbedPair&, const ProbedPair&) = default;
};

/// A GPU of GpuProbes, by the names that find it again in another job.
struct ProbedGpu {
  std::string host;        ///< as MPI names it
  std::string uuid;        ///< as the driver prints it
  std::string pci_bus_id;  ///< as normalized_pci_bus_id() writes it

  friend bool operator==(const ProbedGpu&, const ProbedGpu&) = default;
};

/// What stores and copies from one GPU's memory into another's were seen to take.
struct ProbedGpuPair {
  int from = 0;
  int to = 0;
  /// One way, half a round trip between two running kernels: a block's stores and a flag behind them, seen by the other;
  /// per size of Probes::latency_bytes. Empty where neither can reach the other's memory.
  std::vector<double> put_us;
  std::vector<double>
      store_gb_per_s;  ///< by kernels on all multiprocessors; per size of gpu_bandwidth_bytes; as put_us
  std::vector<double>
      copy_gb_per_s;  ///< by a copy engine, copies back to back; per size of gpu_bandwidth_bytes
  double copy_gb_per_s_together =
      0;  ///< of the largest size while all GPUs of the host sent, each to one other

  friend bool operator==(const ProbedGpuPair&, const ProbedGpuPair&) = default;
};

/// Figures of all pairs of GPUs of each host.
struct GpuProbes {
  std::vector<std::size_t> bandwidth_bytes;
  std::vector<ProbedGpu> gpus;       ///< host after host
  std::vector<ProbedGpuPair> pairs;  ///< of different GPUs of one host, ascending by sender, then receiver

  friend bool operator==(const GpuProbes&, const GpuProbes&) = default;
};

/// Figures of all pairs of ranks, from host memory to host memory by MPI's messages, and of all pairs of GPUs. A value.
struct Probes {
  std::vector<std::string> hosts;  ///< by rank, as MPI names them
  std::vector<std::size_t> latency_bytes;
  std::vector<std::size_t> bandwidth_bytes;
  std::vector<ProbedPair> pairs;  ///< of different ranks, ascending by sender, then receiver
  Figure<GpuProbes> gpus;

  [[nodiscard]] int rank_count() const { return static_cast<int>(hosts.size()); }
  friend bool operator==(const Probes&, const Probes&) = default;
};

/// More ranks take too long: probe one per host, or per GPU.
inline constexpr int max_probed_ranks = 256;

/// Measures. Collective; every rank gets the same. n ranks take about n (n - 1) times some fifty milliseconds, g GPUs of a
/// host g (g - 1) times half a second.
///
/// A host's GPUs are measured by its lowest rank, those that CUDA shows to it, while the others wait. That takes 512 MB of
/// each GPU's memory. Where it can't be done, Probes::gpus says why.
/// \throws Error{usage} on every rank for more than max_probed_ranks ranks, or without sizes; Error{mpi}
[[nodiscard]] Probes probe(MPI_Comm comm, const ProbeOptions& options = {});

/// One object; each figure's unit is in its name.
[[nodiscard]] std::string to_json(const Probes& probes);
/// \param name  what errors call the text
/// \throws Error{input} that names what is wrong or missing
[[nodiscard]] Probes probes_from_json(std::string_view text, const std::string& name);
/// \throws Error{input} that names the file and what is wrong
[[nodiscard]] Probes read_probes(const std::string& path);
/// Tables for people, ending in a newline.
[[nodiscard]] std::string describe(const Probes& probes);

/// What measured places cost, after Faraji's three metrics: latency, bandwidth, and the level at which places are joined.
enum class LinkMetric {
  time,       ///< of a message of the largest size: latency and bandwidth together
  latency,    ///< of a message of the smallest size: for programs of many small messages
  bandwidth,  ///< of the largest size, without the latency: for programs of few large ones
  level,      ///< what MachineCosts says, whatever was measured
};
[[nodiscard]] std::string_view to_string(LinkMetric metric);
/// \throws Error{usage} that lists what there is
[[nodiscard]] LinkMetric parse_link_metric(std::string_view text);

/// Ranks' places, slot i being rank i's. Costs are times, the mean of both directions, in steps of a tenth from the shortest, which is
/// 10: smaller differences are noise.
/// \throws Error{usage} for LinkMetric::level, which probes don't know
[[nodiscard]] Fabric fabric_from_probes(const Probes& probes, LinkMetric metric = LinkMetric::time);

/// A link as measured.
struct MeasuredLink {
  double latency_us = 0;  ///< of the smallest size measured
  double gb_per_s = 0;    ///< of the largest one; between GPUs the better of stores and copies
};

/// What was measured between the places of a job's ranks: between their GPUs where both have one and share a host, else
/// between their hosts, the mean where several pairs of ranks were. A value.
class MeasuredLinks {
 public:
  MeasuredLinks(const Machine& machine, const Probes& probes);

  [[nodiscard]] int rank_count() const { return static_cast<int>(places_.size()); }
  /// Nothing where that wasn't measured. The ranks are of the machine.
  [[nodiscard]] std::optional<MeasuredLink> between(int from, int to) const;

 private:
  struct Place {
    int physical_host = 0;
    int probed_host = -1;  ///< -1: not probed
    bool has_gpu = false;
    int probed_gpu = -1;
  };
  using Matrix = std::vector<std::optional<MeasuredLink>>;

  void measure_hosts(const Probes& probes, const std::vector<std::string>& names);
  void measure_gpus(const GpuProbes& probes);

  std::vector<Place> places_;  // by rank
  std::size_t hosts_ = 0;
  std::size_t gpus_ = 0;
  Matrix between_hosts_;
  Matrix between_gpus_;
};

/// The places of a job's ranks, and the switches between their hosts, as fabric_from_machine() has them, with costs by
/// measured times as fabric_from_probes() has them; slot i is rank i's. Pairs that weren't measured cost what
/// fabric_from_machine() says, to the scale of those that were. Where nothing was measured, all is as it says. Not
/// collective.
/// \param name  what the fabric's description calls the probes, such as their file's name
/// \throws Error{input} as fabric_from_machine() does
[[nodiscard]] Fabric fabric_from_machine(const Machine& machine, const Probes& probes,
                                         const std::string& name, LinkMetric metric = LinkMetric::time,
                                         const MachineCosts& costs = {});

}  // namespace selvage::topo
