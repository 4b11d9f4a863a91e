#include "md/ghosts/decomposition.hpp"

#include <limits>

namespace selvage::md {
namespace {

std::array<int, 3> smallest_surface(const Domain& domain, int ranks) {
  std::array<int, 3> best{ranks, 1, 1};
  double least = std::numeric_limits<double>::infinity();
  for (int x = 1; x <= ranks; ++x) {
    if (ranks % x != 0) continue;
    for (int y = 1; y <= ranks / x; ++y) {
      if (ranks / x % y != 0) continue;
      const int z = ranks / x / y;
      const double a = domain.length(0) / x;
      const double b = domain.length(1) / y;
      const double c = domain.length(2) / z;
      const double surface = a * b + b * c + c * a;
      if (surface >= least) continue;
      least = surface;
      best = {x, y, z};
    }
  }
  return best;
}

}  // namespace

Decomposition::Decomposition(const Domain& domain, int ranks, int rank)
    : domain_(domain), ranks_(smallest_surface(domain, ranks)) {
  place_ = {rank % ranks_[0], rank / ranks_[0] % ranks_[1], rank / (ranks_[0] * ranks_[1])};
}

double Decomposition::plane(int axis, int i) const {
  if (i == ranks_[axis]) return domain_.upper[axis];
  return domain_.lower[axis] + domain_.length(axis) * i / ranks_[axis];
}

Domain Decomposition::box() const {
  Domain box;
  for (int axis = 0; axis < 3; ++axis) {
    box.lower[axis] = plane(axis, place_[axis]);
    box.upper[axis] = plane(axis, place_[axis] + 1);
  }
  return box;
}

}  // namespace selvage::md
