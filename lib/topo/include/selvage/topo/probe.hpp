#pragma once

#include <selvage/topo/fabric.hpp>

#include <mpi.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace selvage::topo {

struct ProbeOptions {
  std::size_t latency_bytes = 8;
  std::size_t bandwidth_bytes = std::size_t{4} << 20;
  int repetitions = 5;  ///< of each figure; the median counts
};

/// What messages from one rank to another were seen to take.
struct ProbedPair {
  int from = 0;
  int to = 0;
  double latency_us = 0;         ///< one way, half a round trip
  double gb_per_s = 0;           ///< 1e9 bytes/s, while no other pair was measured
  double gb_per_s_together = 0;  ///< while all ranks sent, each to one other: less where pairs share a link

  friend bool operator==(const ProbedPair&, const ProbedPair&) = default;
};

/// Figures of all pairs of ranks, from host memory to host memory by MPI's messages. A value.
struct Probes {
  std::vector<std::string> hosts;  ///< by rank, as MPI names them
  std::size_t latency_bytes = 0;
  std::size_t bandwidth_bytes = 0;
  std::vector<ProbedPair> pairs;  ///< of different ranks, ascending by sender, then receiver

  [[nodiscard]] int rank_count() const { return static_cast<int>(hosts.size()); }
  friend bool operator==(const Probes&, const Probes&) = default;
};

/// More ranks take too long: probe one per host, or per GPU.
inline constexpr int max_probed_ranks = 256;

/// Measures. Collective; every rank gets the same. n ranks take about n (n - 1) times some ten milliseconds.
/// \throws Error{usage} on every rank for more than max_probed_ranks ranks; Error{mpi}
[[nodiscard]] Probes probe(MPI_Comm comm, const ProbeOptions& options = {});

/// One object; each figure's unit is in its name.
[[nodiscard]] std::string to_json(const Probes& probes);
/// \param name  what errors call the text
/// \throws Error{input} that names what is wrong or missing
[[nodiscard]] Probes probes_from_json(std::string_view text, const std::string& name);
/// Tables for people, ending in a newline.
[[nodiscard]] std::string describe(const Probes& probes);

/// Ranks' places, slot i being rank i's; costs are the times of a message of bandwidth_bytes, the least being 10. Places
/// whose times differ by less than a tenth count as equally far: so much is noise.
[[nodiscard]] Fabric fabric_from_probes(const Probes& probes);

}  // namespace selvage::topo
