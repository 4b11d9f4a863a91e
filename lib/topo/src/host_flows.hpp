#pragma once

#include <selvage/topo/placement.hpp>

#include <cstdint>
#include <vector>

namespace selvage::topo {

/// What one host sends to another.
struct HostFlow {
  int from = 0;
  int to = 0;
  std::uint64_t bytes = 0;
};

/// What goes between each two hosts, ascending by sender, then receiver.
/// \throws Error{input} when traffic, fabric and placement don't fit each other
[[nodiscard]] std::vector<HostFlow> host_flows(const MappingProblem& problem, const Placement& placement);

}  // namespace selvage::topo
