#pragma once

#include "md/ghosts/domain.hpp"
#include "md/physics/vectors.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace selvage::md {

/// All that decides how a run goes on, in host memory: the box and one entry per atom, all vectors as long.
/// Numbers are fp64 whatever the run computes in, so that a narrower one comes back with the same bits.
struct State {
  Domain domain;
  std::int64_t step = 0;
  std::vector<std::int64_t> ids = {};  ///< >= 1, each once, in any order
  std::vector<Vec3<double>> positions = {};
  std::vector<Vec3<double>> velocities = {};
  std::vector<Images> images = {};

  std::array<double, 2> nose_hoover{};  ///< the thermostat's friction and position; zeros at the start

  [[nodiscard]] std::int64_t atoms() const { return static_cast<std::int64_t>(ids.size()); }
};

/// Checks what every source of atoms has to fulfil.
/// \param where  what messages cite, e.g. the file
/// \throws Error{input} for no atoms, an empty box, an id below 1 or given twice, a number that isn't finite,
/// and an atom outside the box by more than fp32 may have rounded it
void check_state(const State& state, const char* where);

}  // namespace selvage::md
