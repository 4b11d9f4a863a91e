#pragma once

#include "guest_graph.hpp"

#include <selvage/topo/fabric.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace selvage::topo {

/// What a method is given.
struct MapperInput {
  const GuestGraph& graph;  ///< as many vertices as the fabric has slots
  const Fabric& fabric;
  const std::vector<int>& grid;  ///< the process grid, or empty
  std::uint64_t seed = 1;
};

/// The slot of each vertex, a permutation.
using Slots = std::vector<int>;

/// One way to place ranks.
struct Mapper {
  std::string_view name;
  /// Nothing when it doesn't suit the input. Deterministic.
  std::optional<Slots> (*map)(const MapperInput& input);
  bool is_refined = true;  ///< whether it is also tried with swaps
};

/// All methods, the default first. A new one is a file in mappers/, a declaration below and a line in registry.cpp.
[[nodiscard]] std::span<const Mapper> mappers();

[[nodiscard]] std::optional<Slots> map_by_rank(const MapperInput& input);
[[nodiscard]] std::optional<Slots> map_randomly(const MapperInput& input);
[[nodiscard]] std::optional<Slots> map_blocks(const MapperInput& input);
[[nodiscard]] std::optional<Slots> map_greedily(const MapperInput& input);
/// To slots at once; not for more than 1280.
[[nodiscard]] std::optional<Slots> map_by_scotch(const MapperInput& input);
/// To hosts, then the ranks of each host to its slots in their order.
[[nodiscard]] std::optional<Slots> map_hosts_by_scotch(const MapperInput& input);
/// The optimum, for up to 9 ranks that send or receive, as long as the slots aren't too many.
[[nodiscard]] std::optional<Slots> map_exhaustively(const MapperInput& input);

/// Whether a placement of all vertices will do.
using Accepts = std::function<bool(const Slots& slots)>;

/// The cheapest of those that are accepted, found the same way.
/// \return nothing unless one costs less than `below`
[[nodiscard]] std::optional<Slots> map_exhaustively_within(const MapperInput& input, std::uint64_t below,
                                                           const Accepts& accepts);

/// Swaps two ranks, or all ranks of two hosts, as long as that lowers the cost. Never raises it.
[[nodiscard]] Slots refined_by_swaps(const MapperInput& input, Slots slots);

[[nodiscard]] inline std::uint64_t total_cost(const MapperInput& input, const Slots& slots) {
  return total_cost(input.graph, slots, [&](int a, int b) { return input.fabric.cost(a, b); });
}

}  // namespace selvage::topo
