#include "md/verify/all_pairs.hpp"

#include <cmath>

namespace selvage::md {
namespace {

/// The force on an atom from another one that lies at `r` from it.
Vec3<double> pair_force(const Vec3<double>& r, double cutoff) {
  const double distance = std::sqrt(r.x * r.x + r.y * r.y + r.z * r.z);
  if (distance >= cutoff) return {0, 0, 0};
  // -dU/dr of 4 (r^-12 - r^-6), along the line between them.
  const double slope = 4 * (-12 * std::pow(distance, -13) + 6 * std::pow(distance, -7));
  return {slope * r.x / distance, slope * r.y / distance, slope * r.z / distance};
}

}  // namespace

std::vector<Vec3<double>> all_pair_forces(const State& state, double cutoff) {
  std::vector<Vec3<double>> forces(state.positions.size(), {0, 0, 0});
  const double length[3] = {state.domain.length(0), state.domain.length(1), state.domain.length(2)};
  for (std::size_t i = 0; i < forces.size(); ++i) {
    for (std::size_t j = 0; j < forces.size(); ++j) {
      for (int image = 0; image < 27; ++image) {
        const int shift[3] = {image % 3 - 1, image / 3 % 3 - 1, image / 9 - 1};
        const Vec3<double> r{state.positions[j].x - state.positions[i].x + shift[0] * length[0],
                             state.positions[j].y - state.positions[i].y + shift[1] * length[1],
                             state.positions[j].z - state.positions[i].z + shift[2] * length[2]};
        const bool is_itself = i == j && image == 13;
        if (is_itself || std::abs(r.x) >= cutoff || std::abs(r.y) >= cutoff || std::abs(r.z) >= cutoff)
          continue;
        const Vec3<double> f = pair_force(r, cutoff);
        forces[i] = {forces[i].x + f.x, forces[i].y + f.y, forces[i].z + f.z};
      }
    }
  }
  return forces;
}

}  // namespace selvage::md
