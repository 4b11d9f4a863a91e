#include "dragonfly.hpp"
#include "fat_tree.hpp"
#include "placement/fabric/tree.hpp"
#include "placement/random.hpp"
#include "torus.hpp"

#include <selvage/counted.hpp>
#include <selvage/error.hpp>
#include <selvage/topo/simulation.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace selvage::topo {
namespace {

constexpr std::uint32_t cost_per_level = 10;

int ceiling(int a, int b) {
  return (a + b - 1) / b;
}

/// The job's hosts among those of the machine, ascending, as a batch system lists them.
std::vector<int> draw_hosts(const SimulatedFabric& options, int endpoints) {
  std::vector<int> hosts(static_cast<std::size_t>(endpoints));
  std::iota(hosts.begin(), hosts.end(), 0);
  if (options.fragmented) Random(options.seed).shuffle(hosts);
  hosts.resize(static_cast<std::size_t>(options.hosts));
  std::sort(hosts.begin(), hosts.end());
  return hosts;
}

template <typename NetworkType, typename Distance>
Fabric fabric_on(const SimulatedFabric& options, std::shared_ptr<const NetworkType> network, const char* kind,
                 const Distance& distance) {
  FabricParts parts;
  parts.description = fmt::format("{}{}, {} of {}", kind, options.fragmented ? ", fragmented" : "",
                                  counted(options.hosts, "host"), counted(options.slots_per_host, "slot"));
  parts.endpoints = draw_hosts(options, network->endpoint_count());
  const auto hosts = static_cast<std::size_t>(options.hosts);
  parts.host_costs.assign(hosts * hosts, 0);
  for (std::size_t a = 0; a < hosts; ++a) {
    parts.hosts.push_back({fmt::format("h{:04}", parts.endpoints[a]), options.slots_per_host, {}});
    for (std::size_t b = 0; b < hosts; ++b) {
      if (a == b) continue;
      parts.host_costs[a * hosts + b] =
          cost_per_level * distance(*network, parts.endpoints[a], parts.endpoints[b]);
    }
  }
  parts.network = std::move(network);
  return Fabric(std::move(parts));
}

Fabric flat_fabric(const SimulatedFabric& options) {
  FabricParts parts;
  parts.description = fmt::format("flat, {}", counted(options.hosts * options.slots_per_host, "slot"));
  parts.hosts.push_back({"h0000", options.hosts * options.slots_per_host, {}});
  parts.host_costs = {0};
  return Fabric(std::move(parts));
}

/// GPUs below boards, switches, sockets and machines.
TreeNetwork gpu_tree(int gpus) {
  struct Stage {
    const char* name;
    int gpus;
  };
  constexpr std::array<Stage, 4> levels = {{{"board", 2}, {"switch", 4}, {"socket", 8}, {"machine", 16}}};
  std::vector<TreeNode> nodes;
  int above = gpus;
  for (int gpu = 0; gpu < gpus; ++gpu)
    nodes.push_back({fmt::format("gpu {}", gpu), above + gpu / levels[0].gpus});
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const int count = ceiling(gpus, levels[i].gpus);
    above += count;
    const bool is_last = i + 1 == levels.size();
    for (int node = 0; node < count; ++node) {
      const int parent = is_last ? above : above + node * levels[i].gpus / levels[i + 1].gpus;
      nodes.push_back({fmt::format("{} {}", levels[i].name, node), parent});
    }
  }
  nodes.push_back({"network", -1});
  return TreeNetwork(gpus, std::move(nodes));
}

Fabric pcie_fabric(const SimulatedFabric& options) {
  if (options.fragmented) throw Error(ErrorKind::input, "a PCIe tree is not fragmented");
  const int gpus = options.hosts * options.slots_per_host;
  if (gpus > Fabric::max_hosts)
    throw Error(ErrorKind::input,
                fmt::format("a PCIe tree of {} GPUs; up to {} are possible", gpus, Fabric::max_hosts));
  const auto network = std::make_shared<const TreeNetwork>(gpu_tree(gpus));
  constexpr std::array<std::uint32_t, 6> costs = {0, 10, 25, 42, 45, 60};
  FabricParts parts;
  parts.description = fmt::format("PCIe trees of {}", counted(gpus, "GPU"));
  for (int a = 0; a < gpus; ++a) {
    parts.hosts.push_back({fmt::format("gpu{}", a), 1, {}});
    for (int b = 0; b < gpus; ++b) parts.host_costs.push_back(costs[network->levels_to_common_switch(a, b)]);
  }
  parts.network = network;
  return Fabric(std::move(parts));
}

/// The smallest torus of about equal sides that holds as many hosts.
std::array<int, 3> torus_dims(int hosts) {
  std::array<int, 3> dims = {1, 1, 1};
  while (dims[0] * dims[1] * dims[2] < hosts) ++*std::min_element(dims.rbegin(), dims.rend());
  return dims;
}

}  // namespace

Fabric simulated_fabric(const SimulatedFabric& options) {
  if (options.hosts < 1 || options.hosts > Fabric::max_hosts || options.slots_per_host < 1 ||
      options.slots_per_host > Fabric::max_slots / options.hosts) {
    throw Error(ErrorKind::input,
                fmt::format("a simulated fabric of {} with {} each; up to {} and {} in all are possible",
                            counted(options.hosts, "host"), counted(options.slots_per_host, "slot"),
                            counted(Fabric::max_hosts, "host"), counted(Fabric::max_slots, "slot")));
  }
  const int machine = options.fragmented ? 2 * options.hosts : options.hosts;
  const auto level = [](const auto& network, int a, int b) { return network.level(a, b); };
  switch (options.kind) {
    case SimulatedKind::fat_tree: {
      FatTreeShape shape;
      shape.pods = ceiling(machine, shape.hosts_per_pod());
      return fabric_on(options, std::make_shared<const FatTree>(shape), "fat tree", level);
    }
    case SimulatedKind::dragonfly: {
      DragonflyShape shape;
      shape.groups = ceiling(machine, shape.hosts_per_group());
      return fabric_on(options, std::make_shared<const Dragonfly>(shape), "dragonfly", level);
    }
    case SimulatedKind::torus:
      return fabric_on(options, std::make_shared<const Torus>(torus_dims(machine)), "torus",
                       [](const Torus& network, int a, int b) { return network.hops(a, b); });
    case SimulatedKind::pcie_tree:
      return pcie_fabric(options);
    case SimulatedKind::flat:
      break;
  }
  return flat_fabric(options);
}

}  // namespace selvage::topo
