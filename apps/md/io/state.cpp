#include "md/io/state.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace selvage::md {
namespace {

bool is_finite(const Vec3<double>& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

/// In fp32: who computes or writes in it has the box's sides rounded too.
bool lies_between(double x, double lower, double upper) {
  const auto rounded = static_cast<float>(x);
  return rounded >= static_cast<float>(lower) && rounded <= static_cast<float>(upper);
}

void check_ids(const State& state, const char* where) {
  std::vector<std::int64_t> sorted = state.ids;
  std::ranges::sort(sorted);
  if (sorted.front() < 1)
    throw Error(ErrorKind::input, fmt::format("{}: atom id {} is below 1", where, sorted.front()));
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end())
    throw Error(ErrorKind::input, fmt::format("{}: atom {} is there twice", where, *twice));
}

void check_atom(const State& state, std::size_t i, const char* where) {
  const Vec3<double>& x = state.positions[i];
  if (!is_finite(x) || !is_finite(state.velocities[i])) {
    throw Error(ErrorKind::input,
                fmt::format("{}: atom {} has a position or velocity that isn't finite", where, state.ids[i]));
  }
  const double values[] = {x.x, x.y, x.z};
  for (int axis = 0; axis < 3; ++axis) {
    if (lies_between(values[axis], state.domain.lower[axis], state.domain.upper[axis])) continue;
    throw Error(ErrorKind::input,
                fmt::format("{}: atom {} lies outside the box: {} = {}, and the box goes from {} to {}",
                            where, state.ids[i], "xyz"[axis], values[axis], state.domain.lower[axis],
                            state.domain.upper[axis]));
  }
}

}  // namespace

void check_state(const State& state, const char* where) {
  for (int axis = 0; axis < 3; ++axis) {
    if (std::isfinite(state.domain.length(axis)) && state.domain.length(axis) > 0) continue;
    throw Error(ErrorKind::input,
                fmt::format("{}: the box has no extent along {}: from {} to {}", where, "xyz"[axis],
                            state.domain.lower[axis], state.domain.upper[axis]));
  }
  if (state.ids.empty()) throw Error(ErrorKind::input, fmt::format("{}: there are no atoms", where));
  check_ids(state, where);
  for (std::size_t i = 0; i < state.ids.size(); ++i) check_atom(state, i, where);
}

}  // namespace selvage::md
