#include "guest_graph.hpp"

#include "checked.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
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

/// What each rank receives, ascending by sender: the traffic's matrix transposed.
struct Received {
  explicit Received(const Traffic& traffic) : first(static_cast<std::size_t>(traffic.rank_count()) + 1, 0) {
    for (const TrafficEntry& entry : traffic.entries()) ++first[entry.to + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    entries.resize(traffic.entries().size());
    std::vector<std::size_t> next = first;
    for (std::size_t i = 0; i < entries.size(); ++i)
      entries[next[traffic.entries()[i].to]++] = static_cast<std::uint32_t>(i);
  }
  std::vector<std::size_t> first;
  std::vector<std::uint32_t> entries;  ///< their numbers in the traffic
};

/// Merges what a rank sends and what it receives, both ascending, into the graph's next vertex.
void append_neighbours(const Traffic& traffic, const Received& received, int vertex, GuestGraph& graph) {
  const auto sent = traffic.sent_by(vertex);
  auto out = sent.begin();
  std::size_t in = received.first[vertex];
  const std::size_t end = received.first[vertex + 1];
  const auto sender = [&](std::size_t i) { return traffic.entries()[received.entries[i]].from; };
  while (out != sent.end() || in != end) {
    const int other = in == end || (out != sent.end() && out->to < sender(in)) ? out->to : sender(in);
    std::uint64_t bytes = 0;
    if (out != sent.end() && out->to == other) bytes = bytes_of(*out++);
    if (in != end && sender(in) == other)
      bytes =
          checked_sum(bytes, bytes_of(traffic.entries()[received.entries[in++]]), "bytes between two ranks");
    if (other == vertex || bytes == 0) continue;
    graph.neighbours.push_back(other);
    graph.weights.push_back(bytes);
  }
}

/// What nine in ten pairs of the vertices with edges have at least, pairs without an edge having nothing.
std::uint64_t background_of(const GuestGraph& graph) {
  std::size_t vertices = 0;
  for (int vertex = 0; vertex < graph.size; ++vertex)
    vertices += graph.first[vertex] < graph.first[vertex + 1] ? 1 : 0;
  const std::size_t pairs = vertices * (vertices - 1);
  const std::size_t without = pairs - graph.weights.size();
  const std::size_t least = pairs / 10;
  if (least < without) return 0;
  std::vector<std::uint64_t> weights = graph.weights;
  const auto at = weights.begin() + static_cast<std::ptrdiff_t>(least - without);
  std::nth_element(weights.begin(), at, weights.end());
  return *at;
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
  check_fit(static_cast<std::size_t>(traffic.rank_count()), slots);
  const Received received(traffic);
  GuestGraph graph;
  graph.size = slots;
  graph.first.assign(1, 0);
  for (int vertex = 0; vertex < slots; ++vertex) {
    if (vertex < traffic.rank_count()) append_neighbours(traffic, received, vertex, graph);
    graph.first.push_back(graph.neighbours.size());
  }
  constexpr std::uint64_t exact = std::uint64_t{1} << 56;
  graph.weights = scaled_weights(graph.weights, std::max<std::uint32_t>(largest_cost, 1), exact);
  return graph;
}

GuestGraph thinned(const GuestGraph& graph) {
  constexpr std::size_t many = 64;
  constexpr std::size_t kept = 32;
  if (graph.neighbours.size() <= many * static_cast<std::size_t>(graph.size)) return graph;
  const std::uint64_t background = background_of(graph);
  std::vector<Edge> edges;
  std::vector<Edge> heaviest;
  for (int vertex = 0; vertex < graph.size; ++vertex) {
    heaviest.clear();
    for (std::size_t edge = graph.first[vertex]; edge < graph.first[vertex + 1]; ++edge) {
      const int other = graph.neighbours[edge];
      if (graph.weights[edge] > background)
        heaviest.push_back({vertex, other, graph.weights[edge] - background});
    }
    const std::size_t most = std::min(kept, heaviest.size());
    std::ranges::partial_sort(
        heaviest, heaviest.begin() + static_cast<std::ptrdiff_t>(most),
        [](const Edge& a, const Edge& b) { return std::tie(b.weight, a.to) < std::tie(a.weight, b.to); });
    for (std::size_t i = 0; i < most; ++i) {
      edges.push_back(heaviest[i]);
      edges.push_back({heaviest[i].to, vertex, heaviest[i].weight});
    }
  }
  // Where both ends kept an edge, it is there twice.
  std::ranges::sort(edges, {}, [](const Edge& edge) { return std::tuple(edge.from, edge.to); });
  const auto same = [](const Edge& a, const Edge& b) { return a.from == b.from && a.to == b.to; };
  edges.erase(std::unique(edges.begin(), edges.end(), same), edges.end());
  return graph_of(std::move(edges), graph.size);
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
