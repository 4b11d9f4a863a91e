#pragma once

#include "md/io/state.hpp"

#include <array>
#include <cstdint>

namespace selvage::md {

/// A face-centred cubic crystal at rest that fills its periodic box, which starts at 0. Ids count from 1: four
/// per cell, cells with x fastest. Positions have the bits that LAMMPS's `lattice fcc DENSITY` gives.
/// \param cells    cubic cells along x, y, z
/// \param density  atoms per sigma^3
[[nodiscard]] State fcc_crystal(const std::array<std::int64_t, 3>& cells, double density);

/// A sphere around a point, which may lie across the box's sides.
struct Droplet {
  double radius;                 ///< sigma
  std::array<double, 3> centre;  ///< in parts of the box along x, y, z
};

/// The crystal's atoms within the droplet, in their order, ids counted anew; the box stays.
[[nodiscard]] State cut_droplet(const State& crystal, const Droplet& droplet);

}  // namespace selvage::md
