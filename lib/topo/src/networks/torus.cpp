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

void Torus::find_path(int from, int to, const std::array<int, 3>& order, Path& path) const {
  const Coordinates begin = coordinates(from);
  const Coordinates end = coordinates(to);
  const std::array<int, 3> strides = {dims_[1] * dims_[2], dims_[2], 1};
  int host = from;
  path.assign(1, links_per_host * from);
  for (const int d : order) {
    const bool goes_up = way(d, begin[d], end[d]) > 0;
    const int last = goes_up ? dims_[d] - 1 : 0;
    const int step = goes_up ? strides[d] : -strides[d];
    for (int at = begin[d]; at != end[d];) {
      path.push_back(links_per_host * host + 2 + 2 * d + (goes_up ? 1 : 0));
      const bool wraps = at == last;
      host += wraps ? step * (1 - dims_[d]) : step;
      at = wraps ? dims_[d] - 1 - last : at + (goes_up ? 1 : -1);
    }
  }
  path.push_back(links_per_host * to + 1);
}

void Torus::find_paths(int from, int to, Routing routing, std::vector<Path>& paths) const {
  std::array<int, 3> order = {0, 1, 2};
  std::size_t found = 0;
  do {
    if (found == paths.size()) paths.emplace_back();
    find_path(from, to, order, paths[found]);
    const auto here = paths.begin() + static_cast<std::ptrdiff_t>(found);
    if (std::find(paths.begin(), here, *here) == here) ++found;
  } while (routing == Routing::adaptive && std::next_permutation(order.begin(), order.end()));
  paths.resize(found);
}

}  // namespace selvage::topo
