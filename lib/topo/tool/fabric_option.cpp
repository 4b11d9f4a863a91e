#include "fabric_option.hpp"

#include "text_file.hpp"

#include <selvage/error.hpp>
#include <selvage/topo/probe.hpp>
#include <selvage/topo/simulation.hpp>

#include <fmt/format.h>

namespace selvage::topo::tool {
namespace {

constexpr std::string_view slurm_prefix = "slurm:";
constexpr std::string_view scotch_prefix = "scotch:";
constexpr std::string_view probed_prefix = "probed:";

void refuse_nodes(const FabricOptions& options) {
  if (options.nodes.empty()) return;
  throw Error(ErrorKind::usage, "--nodes chooses from a topology.conf: it needs --fabric slurm:FILE");
}

}  // namespace

Fabric fabric_of(const FabricOptions& options, int ranks) {
  if (options.fabric.starts_with(slurm_prefix)) {
    const std::string path = options.fabric.substr(slurm_prefix.size());
    return fabric_from_slurm(read_text_file(path), path,
                             {.slots_per_host = options.slots_per_host, .nodes = options.nodes, .costs = {}});
  }
  refuse_nodes(options);
  if (options.fabric == "job") return fabric_from_machine(detect(MPI_COMM_WORLD));
  if (options.fabric.starts_with(scotch_prefix)) {
    const std::string path = options.fabric.substr(scotch_prefix.size());
    return fabric_from_scotch_target(read_text_file(path), path);
  }
  if (options.fabric.starts_with(probed_prefix)) {
    return fabric_from_probes(read_probes(options.fabric.substr(probed_prefix.size())));
  }
  SimulatedFabric simulated = simulated_fabric_named(options.fabric);
  if (options.slots_per_host < 1) {
    throw Error(ErrorKind::input, fmt::format("{} slots per host", options.slots_per_host));
  }
  simulated.slots_per_host = options.slots_per_host;
  simulated.hosts = std::max(1, (ranks + options.slots_per_host - 1) / options.slots_per_host);
  simulated.seed = options.seed;
  return simulated_fabric(simulated);
}

Routing routing_named(const std::string& name) {
  if (name == "fixed") return Routing::fixed;
  if (name == "adaptive") return Routing::adaptive;
  throw Error(ErrorKind::usage,
              fmt::format("--routing is '{}', neither fixed nor adaptive", name.substr(0, 40)));
}

}  // namespace selvage::topo::tool
