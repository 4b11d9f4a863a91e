#include "guest_graph.hpp"

#include "checked.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace selvage::topo {
namespace {

struct Edge {
  int from = 0;
  int to = 0;
  std::uint64_t weight = 0;
};

/// From directed edges, of which each pair may have several.
GuestGraph graph_of(std::vector<Edge> edges, int size) {
  std::sort(edges.begin(), edges.end(),
            [](const Edge& a, const Edge& b) { return std::tie(a.from, a.to) < std::tie(b.from, b.to); });
  GuestGraph graph;
  graph.size = size;
  graph.first.assign(static_cast<std::size_t>(size) + 1, 0);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Edge& edge = edges[i];
    if (i > 0 && edges[i - 1].from == edge.from && edges[i - 1].to == edge.to) {
      graph.weights.back() = checked_sum(graph.weights.back(), edge.weight, "bytes between two ranks");
      continue;
    }
    graph.neighbours.push_back(edge.to);
    graph.weights.push_back(edge.weight);
    ++graph.first[edge.from + 1];
  }
  for (int vertex = 0; vertex < size; ++vertex) graph.first[vertex + 1] += graph.first[vertex];
  return graph;
}

}  // namespace

std::uint64_t GuestGraph::degree(int vertex) const {
  std::uint64_t sum = 0;
  for (std::size_t edge = first[vertex]; edge < first[vertex + 1]; ++edge) sum += weights[edge];
  return sum;
}

std::vector<std::uint64_t> scaled_weights(const std::vector<std::uint64_t>& weights,
                                          std::uint64_t largest_cost, std::uint64_t limit) {
  const auto fits = [&](int halvings) {
    std::uint64_t sum = 0;
    for (const std::uint64_t weight : weights) {
      sum += std::max<std::uint64_t>(weight >> halvings, 1);
      if (sum > limit / largest_cost) return false;
    }
    return true;
  };
  int halvings = 0;
  while (halvings < 63 && !fits(halvings)) ++halvings;
  if (!fits(halvings))
    throw Error(ErrorKind::unsupported, fmt::format("{} edges are too many", weights.size()));
  std::vector<std::uint64_t> scaled = weights;
  for (std::uint64_t& weight : scaled) weight = std::max<std::uint64_t>(weight >> halvings, 1);
  return scaled;
}

GuestGraph guest_graph(const Traffic& traffic, int slots, std::uint32_t largest_cost) {
  if (traffic.rank_count() > slots) {
    throw Error(ErrorKind::input, fmt::format("{} ranks on {} slots", traffic.rank_count(), slots));
  }
  std::vector<Edge> edges;
  for (const TrafficEntry& entry : traffic.entries()) {
    const std::uint64_t bytes = checked_sum(entry.host.bytes, entry.device.bytes, "bytes between two ranks");
    if (entry.from == entry.to || bytes == 0) continue;
    edges.push_back({entry.from, entry.to, bytes});
    edges.push_back({entry.to, entry.from, bytes});
  }
  GuestGraph graph = graph_of(std::move(edges), slots);
  constexpr std::uint64_t exact = std::uint64_t{1} << 56;
  graph.weights = scaled_weights(graph.weights, std::max<std::uint32_t>(largest_cost, 1), exact);
  return graph;
}

GuestGraph grouped(const GuestGraph& graph, const std::vector<int>& group_of, int groups) {
  std::vector<Edge> edges;
  for (int vertex = 0; vertex < graph.size; ++vertex) {
    for (std::size_t edge = graph.first[vertex]; edge < graph.first[vertex + 1]; ++edge) {
      const int from = group_of[vertex];
      const int to = group_of[graph.neighbours[edge]];
      if (from != to) edges.push_back({from, to, graph.weights[edge]});
    }
  }
  return graph_of(std::move(edges), groups);
}

}  // namespace selvage::topo
