#pragma once

#include "mapper.hpp"

#include <selvage/topo/placement.hpp>

#include <optional>

namespace selvage::topo {

/// Takes off what links carry above `largest_load`, by swaps of all ranks of two hosts, then of two ranks, each time the one
/// that takes off most for what it costs.
/// \param slots  of all vertices, those beyond the ranks stand for slots that stay free
/// \return nothing where some link still carries more, or where there are too many flows to count
[[nodiscard]] std::optional<Slots> relieved(const MappingProblem& problem, Slots slots, double largest_load);

}  // namespace selvage::topo
