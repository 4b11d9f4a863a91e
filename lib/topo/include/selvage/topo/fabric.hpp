#pragma once

#include <selvage/topo/machine.hpp>
#include <selvage/topo/network.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace selvage::topo {

/// One host of a job: the slots that ranks can take, which are its GPUs, or its cores where there are none.
struct FabricHost {
  std::string name;
  int slots = 1;
  /// Cost between each two slots, slots x slots, symmetric; empty: 1 between any two.
  std::vector<std::uint32_t> slot_costs;
};

/// What a Fabric is made from.
struct FabricParts {
  std::string description;
  std::vector<FabricHost> hosts;
  /// Cost between each two hosts, hosts x hosts, symmetric, from 1 to Fabric::max_cost; the diagonal isn't read.
  std::vector<std::uint32_t> host_costs;
  /// The host of each slot; empty: the slots are numbered host after host.
  std::vector<int> slot_hosts;
  std::shared_ptr<const Network> network;  ///< null: not known
  std::vector<int> endpoints;              ///< of each host in the network; empty: host i is endpoint i
};

/// The host graph of a mapping: slots that ranks can take, and what a byte between any two of them costs. A value.
///
/// Costs are relative, larger is worse. Slot i is where rank i runs unless it is placed elsewhere.
class Fabric {
 public:
  static constexpr std::uint32_t max_cost = 65535;
  static constexpr int max_slots = 1 << 17;
  static constexpr int max_hosts = 1 << 13;

  Fabric() = default;
  /// \throws Error{input} when the parts contradict each other or a cost is out of range
  explicit Fabric(FabricParts parts);

  [[nodiscard]] int slot_count() const { return static_cast<int>(slot_hosts_.size()); }
  [[nodiscard]] int host_count() const { return static_cast<int>(hosts_.size()); }
  [[nodiscard]] const FabricHost& host(int host) const { return hosts_[host]; }
  [[nodiscard]] int host_of(int slot) const { return slot_hosts_[slot]; }
  /// Which of its host's slots this one is.
  [[nodiscard]] int index_in_host(int slot) const { return index_in_host_[slot]; }
  /// The slots of a host, in the order of their index there.
  [[nodiscard]] const std::vector<int>& slots_of(int host) const { return slots_of_[host]; }

  /// What a byte between two slots costs; 0 from a slot to itself.
  [[nodiscard]] std::uint32_t cost(int a, int b) const {
    const int host = slot_hosts_[a];
    if (host != slot_hosts_[b]) return host_cost(host, slot_hosts_[b]);
    const std::vector<std::uint32_t>& costs = hosts_[host].slot_costs;
    if (costs.empty()) return a == b ? 0 : 1;
    const auto width = static_cast<std::size_t>(hosts_[host].slots);
    return costs[index_in_host_[a] * width + index_in_host_[b]];
  }
  /// The same between two hosts; 0 from a host to itself.
  [[nodiscard]] std::uint32_t host_cost(int a, int b) const { return host_costs_from(a)[b]; }
  /// From one host to each of them.
  [[nodiscard]] std::span<const std::uint32_t> host_costs_from(int host) const {
    return {host_costs_.data() + static_cast<std::size_t>(host) * hosts_.size(), hosts_.size()};
  }
  /// The smallest cost between any two slots; 0 where there is one slot.
  [[nodiscard]] std::uint32_t smallest_cost() const { return largest_ == 0 ? 0 : smallest_; }
  /// The largest cost between any two slots.
  [[nodiscard]] std::uint32_t largest_cost() const { return largest_; }
  /// Whether all costs between different slots are equal, so that no placement is better than another.
  [[nodiscard]] bool is_flat() const { return flat_; }
  /// Whether all hosts have as many slots and the same costs between them.
  [[nodiscard]] bool has_equal_hosts() const { return equal_hosts_; }

  /// Null when links and paths aren't known.
  [[nodiscard]] const Network* network() const { return network_.get(); }
  /// A host's number in the network.
  [[nodiscard]] int endpoint_of(int host) const { return endpoints_.empty() ? host : endpoints_[host]; }
  [[nodiscard]] const std::string& description() const { return description_; }

 private:
  void number_slots();
  void measure_costs();

  std::string description_;
  std::vector<FabricHost> hosts_;
  std::vector<std::uint32_t> host_costs_;
  std::vector<int> slot_hosts_;
  std::vector<int> index_in_host_;
  std::vector<std::vector<int>> slots_of_;
  std::shared_ptr<const Network> network_;
  std::vector<int> endpoints_;
  std::uint32_t smallest_ = max_cost;
  std::uint32_t largest_ = 0;
  bool flat_ = true;
  bool equal_hosts_ = true;
};

/// What a byte costs between two ranks of a machine.
///
/// PCIe and hosts are, in thirds, in the ratios of bandwidths in Faraji's thesis, 6.4: 10 on a board, 25 by switches, 42 at
/// one root complex, 45 in one machine, 60 between machines. NVLink is taken for four times a PCIe switch.
struct MachineCosts {
  std::uint32_t same_gpu = 1;
  std::uint32_t nvlink =
      2;  ///< of the widest pair, direct or by switches; others in proportion, up to pcie_switch
  std::uint32_t same_board = 3;
  std::uint32_t pcie_switch = 8;
  std::uint32_t root_complex = 14;
  std::uint32_t numa = 14;
  std::uint32_t system = 15;
  std::uint32_t same_host = 2;    ///< where the way between the GPUs isn't known, or there are none
  std::uint32_t other_host = 20;  ///< at the same switch
  std::uint32_t per_level = 10;   ///< more for each level of switches up to the first common one
};

/// The places of a job's ranks, slot i being rank i's today. Hosts are the logical ones, joined by the switches that Slurm
/// named, or by one where it named none. Physical hosts
/// that one NVLink domain joins cost `nvlink` between each other.
[[nodiscard]] Fabric fabric_from_machine(const Machine& machine, const MachineCosts& costs = {});

/// The GPUs of one host, slot i being the i-th in PhysicalHost::gpus: the targets of the last of three phases.
/// \throws Error{input} when there are none, or they are unknown
[[nodiscard]] Fabric fabric_of_gpus(const PhysicalHost& host, const MachineCosts& costs = {});

/// Costs in a tree of switches.
struct TreeCosts {
  std::uint32_t same_host = 1;
  std::uint32_t per_level = 10;  ///< times the levels up to the first common switch
};

/// What fabric_from_slurm() can't learn from the text.
struct SlurmTopologyOptions {
  int slots_per_host = 1;
  std::vector<int> slots = {};  ///< of each host, in their order; empty: slots_per_host
  /// The job's hosts in the order of its ranks, as Slurm writes lists ("n[0-3,7]"); empty: all hosts of the file.
  std::string nodes;
  TreeCosts costs;
};

/// A tree of switches from the text of Slurm's topology.conf, or from what `scontrol show topology` prints: switches, or
/// blocks, which count as switches of one level. Trees that nothing joins are joined at the top.
/// \param name  what errors call the text; files that it includes lie relative to the folder of this
/// \throws Error{input} that names the line, or the host that isn't in the file; another number of `slots` than of hosts
[[nodiscard]] Fabric fabric_from_slurm(std::string_view text, const std::string& name,
                                       const SlurmTopologyOptions& options = {});

/// The targets of a Scotch target file (.tgt): `tleaf`, `cmplt`, `mesh2D`, `mesh3D`, `torus2D`, `torus3D`, `hcub` and
/// `deco 0`.
///
/// The last level of a `tleaf` is a host; `cmplt` is one host; in the others each target is a host of one slot.
/// \param name  what errors call the text
/// \throws Error{input}
[[nodiscard]] Fabric fabric_from_scotch_target(std::string_view text, const std::string& name);

/// The names in a host list as Slurm writes it: "n[0-2,7],login" is n0, n1, n2, n7 and login.
/// \throws Error{input} when it can't be read, or names more than Fabric::max_hosts hosts
[[nodiscard]] std::vector<std::string> expand_host_list(std::string_view list);

}  // namespace selvage::topo
