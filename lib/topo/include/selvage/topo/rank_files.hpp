#pragma once

#include <selvage/topo/cores.hpp>
#include <selvage/topo/placement.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace selvage::topo {

/// A placement by host names, as launchers need it. A value.
struct PlacementPlan {
  struct Host {
    std::string name;
    int slots = 0;
  };
  struct Rank {
    int host = 0;                 ///< index into `hosts`
    int slot = 0;                 ///< which of the host's slots
    std::vector<int> cores = {};  ///< its cores as Open MPI counts them, ascending; empty: unknown
    std::vector<int> cpus =
        {};  ///< their hardware threads, operating-system numbers, ascending; empty: unknown
  };
  std::vector<Host> hosts;
  std::vector<Rank> ranks;
  std::string cores_unknown = {};  ///< why some rank's cores are, if so
};

[[nodiscard]] PlacementPlan plan_of(const Fabric& fabric, const Placement& placement);

/// Adds what place_on_cores() found, or why that is nothing.
/// \param cores  of each rank of the plan
void add_cores(PlacementPlan& plan, const std::vector<Figure<CoreShare>>& cores);

/// Reads what `selvage-topo map --json` wrote.
/// \param name  what errors call the text
/// \throws Error{input} for text that isn't JSON, lacks something, or puts two ranks in one slot
[[nodiscard]] PlacementPlan plan_from_json(std::string_view text, const std::string& name);

/// Open MPI's rank file (`mpirun --rankfile`): "rank 0=host slot=4-7", the rank's cores, or "slot=2" where they aren't
/// known, slots being taken for cores.
[[nodiscard]] std::string openmpi_rank_file(const PlacementPlan& plan);

/// The hosts in the order of ranks, for SLURM_HOSTFILE with `srun --distribution=arbitrary`.
[[nodiscard]] std::string slurm_host_file(const PlacementPlan& plan);

/// MPICH_RANK_ORDER, read with MPICH_RANK_REORDER_METHOD=3: the ranks in the order of hosts and slots.
/// \throws Error{input} when a host but the last one isn't full, since the launcher fills hosts one after the other
[[nodiscard]] std::string mpich_rank_order(const PlacementPlan& plan);

/// The hardware threads of each rank, one line per rank as `taskset --cpu-list` takes them: "0-3,64-67".
/// \throws Error{input} when a rank's cores are unknown
[[nodiscard]] std::string core_list(const PlacementPlan& plan);

/// The slot in its host of each rank, one line per rank: the GPU that it is to use.
[[nodiscard]] std::string gpu_list(const PlacementPlan& plan);

}  // namespace selvage::topo
