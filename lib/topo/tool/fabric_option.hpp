#pragma once

#include <selvage/topo/fabric.hpp>

#include <optional>
#include <string>
#include <vector>

namespace selvage::topo::tool {

/// What the command line says of the fabric.
struct FabricOptions {
  std::string fabric = "job";
  std::string nodes;
  std::string metric = "time";
  std::string probes;                  ///< a file; empty: the one that `probe --save` writes, if it is there
  std::vector<int> slots_per_host{4};  ///< of all hosts, or of each
  std::uint64_t seed = 1;
};

/// What --fabric takes, for help texts.
inline constexpr const char* fabric_help =
    "Where ranks can go: job (the machine under this job), job-gpus (the same, ranks taking GPUs in turn), "
    "machine:FILE (what show --from reads), scontrol (the switches that Slurm tells), slurm:FILE "
    "(topology.conf, or what "
    "scontrol show topology printed), scotch:FILE (.tgt), probed:FILE (of probe --output), or a simulated "
    "one: flat, fat-tree, dragonfly, torus, each also with "
    "-fragmented, or pcie-tree";

/// The file that --fabric names, such as that of slurm:FILE; empty for none.
[[nodiscard]] std::string file_of(const FabricOptions& options);

/// A fabric, and the machine that it was made from, if it was.
struct FoundFabric {
  Fabric fabric;
  std::optional<Machine> machine;
};

/// The fabric that all ranks find together, of which that of rank 0 counts; nothing where the options name another one.
/// Collective. \throws Error{usage}
[[nodiscard]] std::optional<FoundFabric> fabric_found_together(const FabricOptions& options);

/// A fabric that the options name and that one rank finds alone.
/// \param ranks  how many slots a simulated fabric must have at least
/// \throws Error{input}
[[nodiscard]] FoundFabric fabric_named(const FabricOptions& options, int ranks);

/// The same with measured costs, where there are any; not collective. What is wrong with a file that nobody named is said
/// on standard error.
/// \throws Error{input} for a file that --probes or SELVAGE_PROBES names and that can't be read; Error{usage} for a metric of what wasn't
///         measured
[[nodiscard]] FoundFabric with_measurements(FoundFabric found, const FabricOptions& options);

/// "fixed" or "adaptive". \throws Error{usage}
[[nodiscard]] Routing routing_named(const std::string& name);

}  // namespace selvage::topo::tool
