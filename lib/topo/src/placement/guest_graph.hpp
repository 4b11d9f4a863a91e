#pragma once

#include <selvage/topo/traffic.hpp>

#include <cstdint>
#include <vector>

namespace selvage::topo {

/// The traffic between ranks as an undirected graph: both directions and both kinds of memory added up.
///
/// As many vertices as slots; those beyond the ranks have no edges and stand for slots that stay free.
struct GuestGraph {
  int size = 0;
  std::vector<std::size_t> first;  ///< of each vertex's edges; size + 1 numbers
  std::vector<int> neighbours;     ///< ascending for each vertex
  std::vector<std::uint64_t> weights;

  [[nodiscard]] std::uint64_t degree(int vertex) const;
  [[nodiscard]] bool has_edges() const { return !neighbours.empty(); }
};

/// \param largest_cost  that a weight will be multiplied with. Weights are halved until no such sum passes 2^56, so that
///                      sums and their differences are exact; none falls to 0
/// \throws Error{input} when there are more ranks than slots
[[nodiscard]] GuestGraph guest_graph(const Traffic& traffic, int slots, std::uint32_t largest_cost);

/// The same graph with fewer edges, for methods that look at each edge many times: where vertices have more than 64
/// neighbours on the average, the 32 heaviest edges of each, less what nearly all pairs have in common. Such a background, as
/// collective calls leave it, costs the same wherever the ranks are.
[[nodiscard]] GuestGraph thinned(const GuestGraph& graph);

/// Weights halved until all of them times `largest_cost` sum up to `limit` or less; none falls to 0.
[[nodiscard]] std::vector<std::uint64_t> scaled_weights(const std::vector<std::uint64_t>& weights,
                                                        std::uint64_t largest_cost, std::uint64_t limit);

/// The graph of groups of vertices: what goes between each two groups. \param group_of  each vertex's
[[nodiscard]] GuestGraph grouped(const GuestGraph& graph, const std::vector<int>& group_of, int groups);

/// The cost of all edges when vertex i is at `at[i]`. \param cost  a function of two places
template <typename Cost>
[[nodiscard]] std::uint64_t total_cost(const GuestGraph& graph, const std::vector<int>& at,
                                       const Cost& cost) {
  std::uint64_t total = 0;
  for (int vertex = 0; vertex < graph.size; ++vertex) {
    for (std::size_t edge = graph.first[vertex]; edge < graph.first[vertex + 1]; ++edge) {
      const int other = graph.neighbours[edge];
      if (other > vertex) total += graph.weights[edge] * cost(at[vertex], at[other]);
    }
  }
  return total;
}

}  // namespace selvage::topo
