#pragma once

#include <selvage/topo/fabric.hpp>

#include <vector>

namespace selvage::topo {

/// Cores that one rank has for itself, in the order of PhysicalHost::core_list; their `cpus` are those that it may use.
using CoreShare = std::vector<Core>;

/// What a byte costs between two cores: the levels up to what they share, as hwloc's tree has them.
struct CoreCosts {
  std::uint32_t same_l3 = 1;
  std::uint32_t same_numa_node = 2;
  std::uint32_t same_package = 3;
  std::uint32_t same_host = 4;  ///< also where nothing more is known
};

/// The cores on which the job's ranks may run, with the hardware threads that they may use; where those aren't known, the
/// cores that the host's control group allows.
/// \throws Error{input} when the host's cores are unknown
[[nodiscard]] std::vector<Core> usable_cores(const PhysicalHost& host);

/// Cores divided into shares of neighbours that differ by one core at most.
/// \throws Error{input} when there are fewer cores than shares, or no share is wanted
[[nodiscard]] std::vector<CoreShare> shares_of(const std::vector<Core>& cores, int shares);

/// Shares of one host's cores, slot i being the i-th: the targets of the second of three phases. What lies between two
/// shares is what lies between their first cores.
/// \param host  its name
/// \throws Error{input} when there are no shares
[[nodiscard]] Fabric fabric_of_cores(const std::string& host, const std::vector<CoreShare>& shares,
                                     const CoreCosts& costs = {});

/// The same with a share for each usable core.
/// \throws Error{input} when the host's cores are unknown
[[nodiscard]] Fabric fabric_of_cores(const PhysicalHost& host, const CoreCosts& costs = {});

/// The hardware threads of a share, ascending.
[[nodiscard]] std::vector<int> cpus_of(const CoreShare& share);

}  // namespace selvage::topo
