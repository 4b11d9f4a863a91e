#pragma once

#include <selvage/topo/placement.hpp>

#include <cstdint>
#include <functional>

namespace selvage::topo {

/// What one host sends to another.
struct HostFlow {
  int from = 0;
  int to = 0;
  std::uint64_t bytes = 0;
};

/// Shows what goes between each two hosts, ascending by sender, then receiver. Nothing keeps them all: between thousands of
/// hosts they may be more than fit.
/// \throws Error{input} when traffic, fabric and placement don't fit each other
void for_each_flow(const MappingProblem& problem, const Placement& placement,
                   const std::function<void(const HostFlow& flow)>& show);

}  // namespace selvage::topo
