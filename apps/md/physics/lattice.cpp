#include "md/physics/lattice.hpp"

#include <cmath>

namespace selvage::md {
namespace {

constexpr int atoms_per_cell = 4;
constexpr Vec3<double> basis[atoms_per_cell] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};

}  // namespace

State fcc_crystal(const std::array<std::int64_t, 3>& cells, double density) {
  const double spacing = std::pow(atoms_per_cell / density, 1.0 / 3.0);
  State state;
  for (int axis = 0; axis < 3; ++axis) state.domain.upper[axis] = static_cast<double>(cells[axis]) * spacing;
  const auto atoms = static_cast<std::size_t>(atoms_per_cell * cells[0] * cells[1] * cells[2]);
  state.ids.reserve(atoms);
  state.positions.reserve(atoms);
  for (std::int64_t z = 0; z < cells[2]; ++z) {
    for (std::int64_t y = 0; y < cells[1]; ++y) {
      for (std::int64_t x = 0; x < cells[0]; ++x) {
        for (const Vec3<double>& corner : basis) {
          state.ids.push_back(state.atoms() + 1);
          state.positions.push_back({spacing * (static_cast<double>(x) + corner.x),
                                     spacing * (static_cast<double>(y) + corner.y),
                                     spacing * (static_cast<double>(z) + corner.z)});
        }
      }
    }
  }
  state.velocities.assign(atoms, {0, 0, 0});
  state.images.assign(atoms, {0, 0, 0});
  return state;
}

State cut_droplet(const State& crystal, const Droplet& droplet) {
  const Domain& box = crystal.domain;
  const auto from_centre = [&](int axis, double x) {
    return std::remainder(x - box.lower[axis] - droplet.centre[axis] * box.length(axis), box.length(axis));
  };
  State state{.domain = box, .step = crystal.step};
  for (std::size_t i = 0; i < crystal.ids.size(); ++i) {
    const Vec3<double>& x = crystal.positions[i];
    if (std::hypot(from_centre(0, x.x), from_centre(1, x.y), from_centre(2, x.z)) > droplet.radius) continue;
    state.ids.push_back(state.atoms() + 1);
    state.positions.push_back(x);
    state.velocities.push_back(crystal.velocities[i]);
    state.images.push_back(crystal.images[i]);
  }
  return state;
}

}  // namespace selvage::md
