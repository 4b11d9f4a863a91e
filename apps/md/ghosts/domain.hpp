#pragma once

#include <array>

namespace selvage::md {

/// The periodic box: positions lie in [lower, upper) on each axis. Axes are x, y, z; lengths in sigma.
struct Domain {
  std::array<double, 3> lower{};
  std::array<double, 3> upper{};

  [[nodiscard]] double length(int axis) const { return upper[axis] - lower[axis]; }
  [[nodiscard]] double volume() const { return length(0) * length(1) * length(2); }
  bool operator==(const Domain&) const = default;
};

}  // namespace selvage::md
