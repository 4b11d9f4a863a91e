#pragma once

#include <selvage/comm/box.hpp>
#include <selvage/comm/grid.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace selvage::jacobi {

/// For each axis and side, whether a sweep there reads ghosts that an exchange fills. At the other sides lies
/// the fixed boundary.
template <int D>
struct OpenSides {
  std::array<bool, D> low{};
  std::array<bool, D> high{};
};

template <int D>
[[nodiscard]] OpenSides<D> open_sides(const Grid<D>& grid) {
  OpenSides<D> sides;
  const auto place = grid.coordinates();
  for (int axis = 0; axis < D; ++axis) {
    sides.low[axis] = grid.periodic()[axis] || place[axis] > 0;
    sides.high[axis] = grid.periodic()[axis] || place[axis] + 1 < grid.ranks()[axis];
  }
  return sides;
}

/// `box` grown by `cells` (shrunk, where negative) at its open sides.
template <int D>
[[nodiscard]] Box<D> grown(const Box<D>& box, const OpenSides<D>& sides, std::int64_t cells) {
  Box<D> result = box;
  for (int axis = 0; axis < D; ++axis) {
    if (sides.low[axis]) result.begin[axis] -= cells;
    if (sides.high[axis]) result.end[axis] += cells;
    if (result.end[axis] < result.begin[axis]) result.end[axis] = result.begin[axis];
  }
  return result;
}

template <int D>
[[nodiscard]] bool is_empty(const Box<D>& box) {
  for (int axis = 0; axis < D; ++axis) {
    if (box.extent(axis) <= 0) return true;
  }
  return false;
}

/// `outer` without `inner` as boxes that don't overlap, those across the slowest axis first (longest rows).
/// An empty `inner` leaves `outer` itself.
template <int D>
[[nodiscard]] std::vector<Box<D>> without(Box<D> outer, const Box<D>& inner) {
  if (is_empty(outer)) return {};
  if (is_empty(inner)) return {outer};
  std::vector<Box<D>> slabs;
  for (int axis = 0; axis < D; ++axis) {
    Box<D> low = outer;
    low.end[axis] = inner.begin[axis];
    Box<D> high = outer;
    high.begin[axis] = inner.end[axis];
    if (!is_empty(low)) slabs.push_back(low);
    if (!is_empty(high)) slabs.push_back(high);
    outer.begin[axis] = inner.begin[axis];
    outer.end[axis] = inner.end[axis];
  }
  return slabs;
}

}  // namespace selvage::jacobi
