#pragma once

#include <selvage/topo/cores.hpp>
#include <selvage/topo/placement.hpp>

#include <functional>
#include <vector>

namespace selvage::topo {

/// Places the ranks of a problem. \return one slot per rank
using Phase = std::function<Placement(const MappingProblem& problem)>;

/// The portfolio with its guard.
[[nodiscard]] Placement portfolio_phase(const MappingProblem& problem);
/// Rank i in slot i: a phase that changes nothing.
[[nodiscard]] Placement by_rank_phase(const MappingProblem& problem);

/// How each of the three phases works; all are replaceable.
struct Phases {
  Phase process_to_host = portfolio_phase;
  Phase process_to_core = portfolio_phase;
  Phase gpu_to_process = portfolio_phase;
};

/// Where each rank goes.
struct ThreePhasePlacement {
  std::vector<int> host_of_rank;
  std::vector<int> core_of_rank;  ///< within its host, a slot of `cores`
  std::vector<int> gpu_of_rank;   ///< within its host, a slot of `gpus`
};

/// The three phases of Faraji, thesis 6.3.2. First each process gets a host, by host and device traffic together, since
/// both leave over the same network; then a core in it, by host traffic alone; then a GPU, by device traffic alone.
///
/// Unlike there, any method can take each phase, and the default is the guarded portfolio. Not collective.
/// \param problem  its fabric gives hosts, network and how many ranks a host takes
/// \param cores    one host's cores, as a fabric with at least as many slots as ranks go to a host
/// \param gpus     the same of its GPUs
/// \throws Error{input} when ranks don't fit
[[nodiscard]] ThreePhasePlacement place_in_three_phases(const MappingProblem& problem, const Fabric& cores,
                                                        const Fabric& gpus, const Phases& phases = {});

/// The third phase alone, for fabrics whose slots are GPUs: ranks stay on their hosts, where device traffic alone chooses among the slots.
/// Not collective.
/// \throws Error{input} when the placement isn't of the fabric's slots
[[nodiscard]] Placement place_on_gpus(const MappingProblem& problem, const Placement& placement,
                                      const Phase& phase = portfolio_phase);

/// The second phase alone, for ranks that have their slots of fabric_from_machine(): divides the cores of each physical
/// host evenly among the ranks in it, shares that are near to each other going to ranks that exchange the most from host
/// memory. Ranks whose GPUs are near to some of the cores stay on those, if there are enough. Not collective.
/// \param problem  with fabric_from_machine(machine)
/// \return each rank's cores, or why there are none for it
/// \throws Error{input} when the placement isn't of the machine's ranks
[[nodiscard]] std::vector<Figure<CoreShare>> place_on_cores(const MappingProblem& problem,
                                                            const Placement& placement,
                                                            const Machine& machine,
                                                            const Phase& phase = portfolio_phase);

}  // namespace selvage::topo
