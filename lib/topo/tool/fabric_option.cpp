#include "fabric_option.hpp"

#include "scontrol.hpp"
#include "text/text_file.hpp"

#include <selvage/environment.hpp>
#include <selvage/error.hpp>
#include <selvage/read_text_file.hpp>
#include <selvage/topo/machine_files.hpp>
#include <selvage/topo/probe.hpp>
#include <selvage/topo/simulation.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

namespace selvage::topo::tool {
namespace {

constexpr std::string_view slurm_prefix = "slurm:";
constexpr std::string_view scotch_prefix = "scotch:";
constexpr std::string_view probed_prefix = "probed:";
constexpr std::string_view machine_prefix = "machine:";

void refuse_nodes(const FabricOptions& options) {
  if (options.nodes.empty()) return;
  throw Error(ErrorKind::usage,
              "--nodes chooses from a topology.conf: it needs --fabric slurm:FILE or scontrol");
}

SlurmTopologyOptions slurm_options(const FabricOptions& options, const std::string& nodes) {
  SlurmTopologyOptions made{
      .slots_per_host = options.slots_per_host.front(), .slots = {}, .nodes = nodes, .costs = {}};
  if (options.slots_per_host.size() > 1) made.slots = options.slots_per_host;
  return made;
}

int slots_of_all_hosts(const FabricOptions& options) {
  if (options.slots_per_host.size() == 1) return options.slots_per_host.front();
  throw Error(ErrorKind::usage,
              "--slots-per-host with a number per host needs --fabric slurm:FILE or scontrol");
}

/// Rank 0 alone asks Slurm. \return nothing, said on standard error, where Slurm tells nothing of use
std::optional<Fabric> fabric_from_scontrol(const FabricOptions& options) {
  const std::string nodes =
      options.nodes.empty() ? environment_text("SLURM_JOB_NODELIST").value_or("") : options.nodes;
  const Printed printed = topology_from_scontrol();
  std::string why = printed.text;
  try {
    if (printed.is_there)
      return fabric_from_slurm(printed.text, "scontrol show topology", slurm_options(options, nodes));
  } catch (const Error& error) {
    why = error.message();
  }
  (void)std::fputs(fmt::format("selvage-topo: {}: the machine under this job is taken\n", why).c_str(),
                   stderr);
  return std::nullopt;
}

FoundFabric found_in(Machine machine) {
  Fabric fabric = fabric_from_machine(machine);
  return {.fabric = std::move(fabric), .machine = std::move(machine)};
}

FoundFabric fabric_from_scontrol_or_job(const FabricOptions& options) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  std::optional<Fabric> found;
  if (rank == 0) found = fabric_from_scontrol(options);
  int is_found = found ? 1 : 0;
  check_mpi(MPI_Bcast(&is_found, 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Bcast of whether Slurm told switches");
  if (is_found == 0) return found_in(detect(MPI_COMM_WORLD));
  return {.fabric = found ? std::move(*found) : Fabric(), .machine = {}};
}

Fabric fabric_without_machine(const FabricOptions& options, int ranks) {
  if (options.fabric.starts_with(slurm_prefix)) {
    const std::string path = options.fabric.substr(slurm_prefix.size());
    return fabric_from_slurm(read_text_file(path), path, slurm_options(options, options.nodes));
  }
  if (options.fabric.starts_with(scotch_prefix)) {
    const std::string path = options.fabric.substr(scotch_prefix.size());
    return fabric_from_scotch_target(read_text_file(path), path);
  }
  if (options.fabric.starts_with(probed_prefix)) {
    return fabric_from_probes(read_probes(options.fabric.substr(probed_prefix.size())),
                              parse_link_metric(options.metric));
  }
  SimulatedFabric simulated = simulated_fabric_named(options.fabric);
  simulated.slots_per_host = slots_of_all_hosts(options);
  simulated.hosts = std::max(1, (ranks + simulated.slots_per_host - 1) / simulated.slots_per_host);
  simulated.seed = options.seed;
  return simulated_fabric(simulated);
}

}  // namespace

std::string file_of(const FabricOptions& options) {
  for (const std::string_view prefix : {slurm_prefix, scotch_prefix, probed_prefix, machine_prefix})
    if (options.fabric.starts_with(prefix)) return options.fabric.substr(prefix.size());
  return {};
}

std::optional<FoundFabric> fabric_found_together(const FabricOptions& options) {
  if (options.fabric == "scontrol") return fabric_from_scontrol_or_job(options);
  if (!options.fabric.starts_with(slurm_prefix)) refuse_nodes(options);
  if (options.fabric == "job") return found_in(detect(MPI_COMM_WORLD));
  if (options.fabric == "job-gpus") return found_in(with_gpus_in_turn(detect(MPI_COMM_WORLD)));
  return std::nullopt;
}

FoundFabric fabric_named(const FabricOptions& options, int ranks) {
  if (options.fabric.starts_with(machine_prefix))
    return found_in(machine_from_file(options.fabric.substr(machine_prefix.size())));
  return {.fabric = fabric_without_machine(options, ranks), .machine = {}};
}

FoundFabric with_measurements(FoundFabric found, const FabricOptions& options) {
  const LinkMetric metric = parse_link_metric(options.metric);
  const bool needs_figures = metric == LinkMetric::latency || metric == LinkMetric::bandwidth;
  if (!found.machine) {
    if (needs_figures && !options.fabric.starts_with(probed_prefix))
      throw Error(ErrorKind::usage, fmt::format("--metric {} needs measured figures: --fabric probed:FILE, "
                                                "or a machine (job, job-gpus or machine:FILE)",
                                                options.metric));
    if (options.probes.empty()) return found;
    throw Error(ErrorKind::usage, "--probes needs a machine: --fabric job, job-gpus or machine:FILE");
  }
  const auto file = options.probes.empty() ? settings_path("SELVAGE_PROBES", "probes.json")
                                           : SettingsPath{.path = options.probes, .is_named = true};
  std::error_code ignored;
  if (!file || (!file->is_named && !std::filesystem::exists(file->path, ignored))) {
    if (!needs_figures) return found;
    throw Error(
        ErrorKind::usage,
        fmt::format("--metric {} needs measured figures: give --probes FILE, or let 'selvage-topo probe "
                    "--save' keep some",
                    options.metric));
  }
  try {
    found.fabric = fabric_from_machine(*found.machine, read_probes(file->path), file->path, metric);
  } catch (const Error& error) {
    if (file->is_named || needs_figures) throw;
    (void)std::fputs(fmt::format("selvage-topo: probes left alone: {}\n", error.message()).c_str(), stderr);
  }
  return found;
}

Routing routing_named(const std::string& name) {
  if (name == "fixed") return Routing::fixed;
  if (name == "adaptive") return Routing::adaptive;
  throw Error(ErrorKind::usage,
              fmt::format("--routing is '{}', neither fixed nor adaptive", name.substr(0, 40)));
}

}  // namespace selvage::topo::tool
