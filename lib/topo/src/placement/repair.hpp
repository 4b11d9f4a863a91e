#pragma once

#include "guest_graph.hpp"

#include <cstdint>
#include <vector>

namespace selvage::topo {

/// What ranks are mapped to: slots, or hosts that hold several ranks.
struct Targets {
  int count = 0;
  std::vector<int> capacity;
  std::vector<std::uint32_t> costs;  ///< count x count

  [[nodiscard]] std::uint32_t cost(int a, int b) const {
    return costs[static_cast<std::size_t>(a) * static_cast<std::size_t>(count) + static_cast<std::size_t>(b)];
  }
};

/// A mapping that keeps to the capacities: of the ranks that a target got too many of, the heaviest stay, and the
/// others, as those that got no target at all, go where there is room and it costs least. Heavy ranks choose first.
/// \param mapped  the target of each rank, any number where it got none
[[nodiscard]] std::vector<int> repaired(const GuestGraph& graph, const Targets& targets,
                                        const std::vector<std::int64_t>& mapped);

}  // namespace selvage::topo
