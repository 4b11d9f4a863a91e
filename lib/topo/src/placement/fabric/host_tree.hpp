#pragma once

#include "placement/fabric/tree.hpp"

#include <selvage/topo/machine.hpp>

#include <memory>

namespace selvage::topo {

/// The logical hosts of a machine below the switches of their physical hosts, joined at the top; one switch for all where
/// a host's switches aren't known.
[[nodiscard]] std::shared_ptr<const TreeNetwork> tree_of_hosts(const Machine& machine);

}  // namespace selvage::topo
