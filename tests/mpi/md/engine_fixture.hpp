#pragma once

#include "common/breakdown.hpp"
#include "md/engine.hpp"
#include "md/physics/lattice.hpp"
#include "md/physics/numbers.hpp"
#include "md/physics/velocities.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace selvage::md::testing_support {

using Space = Kokkos::DefaultExecutionSpace;

/// An engine and what it needs around it.
template <class Numbers>
struct TestRun {
  app::Breakdown breakdown{"md", false};
  Engine<Numbers, Space> engine;

  TestRun(const State& state, const EngineOptions& options)
      : engine(Space(), state, options, {state.domain, options.list_cutoff()}, breakdown) {}

  void advance(int steps, bool rebuild_in_last = false) {
    for (int step = 1; step <= steps; ++step) engine.advance(step == steps, rebuild_in_last && step == steps);
  }
};

/// A warm crystal with every atom moved by up to `disorder` in each direction, ids mixed up.
inline State disordered(const std::array<std::int64_t, 3>& cells, double disorder,
                        double temperature = 1.44) {
  State state = fcc_crystal(cells, 0.8442);
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> offset(0, disorder);
  for (auto& x : state.positions) x = {x.x + offset(random), x.y + offset(random), x.z + offset(random)};
  for (auto& x : state.positions) {
    double* const values[] = {&x.x, &x.y, &x.z};
    for (int axis = 0; axis < 3; ++axis) {
      if (*values[axis] >= state.domain.upper[axis]) *values[axis] -= state.domain.length(axis);
    }
  }
  std::ranges::shuffle(state.ids, random);
  draw_velocities(state, temperature, 11);
  return state;
}

/// The largest difference between components of two lists.
inline double largest_difference(const std::vector<Vec3<double>>& a, const std::vector<Vec3<double>>& b) {
  double largest = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    for (const double difference : {a[i].x - b[i].x, a[i].y - b[i].y, a[i].z - b[i].z}) {
      // Written so that NaN counts too.
      if (!(std::abs(difference) <= largest)) largest = std::abs(difference);
    }
  }
  return largest;
}

/// The values of `list` by atom id.
template <class T>
std::vector<T> by_id(const State& state, const std::vector<T>& list) {
  std::vector<T> sorted(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) sorted[static_cast<std::size_t>(state.ids[i] - 1)] = list[i];
  return sorted;
}

}  // namespace selvage::md::testing_support
