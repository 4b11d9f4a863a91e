#pragma once

#include <selvage/topo/fabric.hpp>
#include <selvage/topo/pattern.hpp>
#include <selvage/topo/placement.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace selvage::topo {

/// Networks that can be simulated.
enum class SimulatedKind {
  flat,      ///< all slots in one host
  fat_tree,  ///< 8 hosts per leaf switch, 4 leaf switches per pod, as many cables up as down; costs 1, 10, 20, 30
  dragonfly,  ///< 4 hosts per router, 4 routers per group, two cables between each two groups; costs 1, 10, 20, 30
  torus,  ///< three dimensions, one host per router; costs 1 and 10 per hop
  pcie_tree,  ///< 16 GPUs per machine, each a host of its own: pairs, fours, eights; costs 10, 25, 42, 45, between
              ///< machines 60, the ratios of bandwidths in Faraji's thesis, 6.4; never fragmented
};

/// The hosts of one job on a simulated network, which is as large as they need: up to Fabric::max_hosts hosts, and
/// Fabric::max_slots slots in all.
struct SimulatedFabric {
  SimulatedKind kind = SimulatedKind::fat_tree;
  int hosts = 1;
  int slots_per_host = 4;
  bool fragmented = false;  ///< the hosts are drawn from a machine twice as large, otherwise its first ones
  std::uint64_t seed = 0;   ///< of the drawing
};

/// \throws Error{input} for numbers out of range
[[nodiscard]] Fabric simulated_fabric(const SimulatedFabric& options);

/// One pattern on one simulated fabric.
struct SimulationRequest {
  std::string pattern;  ///< see pattern_named()
  std::string fabric;   ///< see simulated_fabric_named()
  int slots_per_host = 4;
  int seeds = 20;  ///< allocations that are drawn; one is enough where nothing is drawn
  Routing routing = Routing::fixed;
};

/// What a method reached, in per cent of the default, over the seeds.
struct MethodFigures {
  std::string method;  ///< "portfolio": what the portfolio chose and the guard let pass
  double hop_bytes = 100;
  double least_hop_bytes = 100;
  double most_hop_bytes = 100;
  std::optional<double>
      link_load;  ///< the mean of the largest link load; nothing where no link is used by the default
  std::optional<double> most_link_load;
  std::optional<double> time;  ///< transfer_time(), of the portfolio only
  bool is_verified = false;    ///< hop-bytes were added up once more, and are what the methods said
};

/// What simulate() found for one request, over all its seeds.
struct SimulationResult {
  SimulationRequest request;
  int ranks = 0;
  std::vector<MethodFigures> methods;  ///< the default first, the portfolio last
  std::string choice;                  ///< the method that was chosen most often
  std::string remark;                  ///< why nothing is to be gained, where that is so
};

/// Places the pattern on one allocation per seed. Deterministic.
/// \throws Error{input}
[[nodiscard]] SimulationResult simulate(const SimulationRequest& request);

/// The same with traffic of any origin; the request's pattern is a name only.
[[nodiscard]] SimulationResult simulate(const SimulationRequest& request, const Pattern& pattern);

/// A simulated fabric by name: flat, fat-tree, dragonfly, torus, each also with "-fragmented", and pcie-tree.
/// \throws Error{input} for another name
[[nodiscard]] SimulatedFabric simulated_fabric_named(std::string_view name);

/// The names of suites.
[[nodiscard]] std::vector<std::string> suite_names();

/// The cases of a suite: `paper` (Faraji, thesis ch. 6), `stencils` (64 to 1024 ranks), `large` (4096), `md`, `quick`,
/// or `all` but the last. \throws Error{input} for another name
[[nodiscard]] std::vector<SimulationRequest> suite_named(std::string_view name, int seeds, Routing routing);

}  // namespace selvage::topo
