#include "networks/torus.hpp"

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
  }
}

Torus::Coordinates Torus::coordinates(int host) const {
  return {host / (dims_[1] * dims_[2]), host / dims_[2] % dims_[1], host % dims_[2]};
}

int Torus::host_at(const Coordinates& at) const {
  return (at[0] * dims_[1] + at[1]) * dims_[2] + at[2];
}

int Torus::way(int dimension, int from, int to) const {
  const int size = dims_[dimension];
  const int forward = (to - from + size) % size;
  return 2 * forward <= size ? forward : forward - size;
}

std::uint32_t Torus::hops(int a, int b) const {
  const Coordinates from = coordinates(a);
  const Coordinates to = coordinates(b);
  int hops = 0;
  for (int d = 0; d < 3; ++d) hops += std::abs(way(d, from[d], to[d]));
  return static_cast<std::uint32_t>(hops);
}

Path Torus::path(int from, int to, const std::array<int, 3>& order) const {
  Coordinates at = coordinates(from);
  const Coordinates end = coordinates(to);
  Path path = {links_per_host * from};
  for (const int d : order) {
    const int way_along = way(d, at[d], end[d]);
    const int step = way_along < 0 ? -1 : 1;
    while (at[d] != end[d]) {
      path.push_back(links_per_host * host_at(at) + 2 + 2 * d + (step > 0 ? 1 : 0));
      at[d] = (at[d] + step + dims_[d]) % dims_[d];
    }
  }
  path.push_back(links_per_host * to + 1);
  return path;
}

std::vector<Path> Torus::paths(int from, int to, Routing routing) const {
  std::array<int, 3> order = {0, 1, 2};
  if (routing == Routing::fixed) return {path(from, to, order)};
  std::vector<Path> all;
  do {
    Path one = path(from, to, order);
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
  } while (std::next_permutation(order.begin(), order.end()));
  return all;
}

}  // namespace selvage::topo
