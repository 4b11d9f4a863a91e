#include "torus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace selvage::topo {
namespace {

constexpr int links_per_host = 8;  // up, down, and two directions of three dimensions

}  // namespace

Torus::Torus(const std::array<int, 3>& dims) : Network(dims[0] * dims[1] * dims[2]), dims_(dims) {
  for (int host = 0; host < endpoint_count(); ++host) {
    add_link(fmt::format("host {} up", host));
    add_link(fmt::format("host {} down", host));
    for (const char axis : {'x', 'y', 'z'}) {
      add_link(fmt::format("router {} -{}", host, axis));
      add_link(fmt::format("router {} +{}", host, axis));
    }
    coordinates_.push_back({host / (dims[1] * dims[2]), host / dims[2] % dims[1], host % dims[2]});
  }
}

int Torus::way(int dimension, int from, int to) const {
  const int size = dims_[dimension];
  const int forward = (to - from + size) % size;
  return 2 * forward <= size ? forward : forward - size;
}

Torus::Coordinates Torus::ways(int from, int to) const {
  Coordinates ways{};
  for (int d = 0; d < 3; ++d) ways[d] = way(d, coordinates_[from][d], coordinates_[to][d]);
  return ways;
}

std::uint32_t Torus::hops(int a, int b) const {
  int hops = 0;
  for (const int way : ways(a, b)) hops += std::abs(way);
  return static_cast<std::uint32_t>(hops);
}

void Torus::find_path(int from, int to, const Coordinates& ways, std::span<const int> order,
                      Path& path) const {
  const std::array<int, 3> strides = {dims_[1] * dims_[2], dims_[2], 1};
  int host = from;
  path.assign(1, links_per_host * from);
  for (const int d : order) {
    const bool goes_up = ways[d] > 0;
    const int last = goes_up ? dims_[d] - 1 : 0;
    const int step = goes_up ? strides[d] : -strides[d];
    int at = coordinates_[from][d];
    for (int left = std::abs(ways[d]); left > 0; --left) {
      path.push_back(links_per_host * host + 2 + 2 * d + (goes_up ? 1 : 0));
      const bool wraps = at == last;
      host += wraps ? step * (1 - dims_[d]) : step;
      at = wraps ? dims_[d] - 1 - last : at + (goes_up ? 1 : -1);
    }
  }
  path.push_back(links_per_host * to + 1);
}

void Torus::find_paths(int from, int to, Routing routing, std::vector<Path>& paths) const {
  const Coordinates ways = this->ways(from, to);
  std::array<int, 3> dimensions{};
  std::size_t differing = 0;
  for (int d = 0; d < 3; ++d) {
    if (ways[d] != 0) dimensions[differing++] = d;
  }
  constexpr std::array<std::size_t, 4> orders_of = {1, 1, 2, 6};
  paths.resize(routing == Routing::adaptive ? orders_of[differing] : 1);
  const std::span<int> order(dimensions.data(), differing);
  for (Path& path : paths) {
    find_path(from, to, ways, order, path);
    std::ranges::next_permutation(order);
  }
}

}  // namespace selvage::topo
