#pragma once

#include <cstdint>

namespace selvage::md {

/// A velocity, a force, a shift. Axes are x, y, z.
template <class Real>
struct Vec3 {
  Real x, y, z;
};

/// A position, as wide as four numbers, so that a neighbour is fetched with one aligned access.
template <class Real>
struct alignas(4 * sizeof(Real)) Position {
  Real x, y, z, unused;
};

/// How often an atom has left the box through its upper side, less through its lower side, per axis.
struct Images {
  std::int32_t x, y, z;
};

}  // namespace selvage::md
