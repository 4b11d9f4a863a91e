#pragma once

#include "jacobi/cli/settings.hpp"
#include "jacobi/persistent/persistent.hpp"
#include "jacobi/solver.hpp"

#include <selvage/comm/grid.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <type_traits>

namespace selvage::jacobi {

template <int D>
[[nodiscard]] Problem<D> problem_of(const Settings& settings) {
  Problem<D> problem{.name = settings.name, .amplitude = settings.amplitude};
  std::ranges::copy(settings.cells, problem.cells.begin());
  std::ranges::copy(settings.periodic, problem.periodic.begin());
  return problem;
}

template <int D>
[[nodiscard]] GridOptions<D> grid_options(const Settings& settings) {
  const Problem<D> problem = problem_of<D>(settings);
  GridOptions<D> options{.cells = problem.cells, .periodic = problem.periodic};
  if (settings.standard.ranks_grid) {
    std::ranges::copy(*settings.standard.ranks_grid, options.ranks.begin());
  } else if (settings.persistent != Persistence::off && settings.stencil_points == FivePoint::points) {
    // Slabs of whole rows, which the persistent form needs.
    options.ranks[1] = 1;
  }
  return options;
}

/// Why the persistent form can't run; empty when it can.
template <class Real, class Stencil, int D>
[[nodiscard]] std::string refuse_persistent_form(const Grid<D>& grid) {
  if constexpr (std::is_same_v<Stencil, FivePoint>) {
    return refuse_persistent<Real>(grid);
  } else {
    return fmt::format("the persistent form has the 5-point stencil, not {} points", Stencil::points);
  }
}

[[nodiscard]] inline SolverOptions solver_options(const Settings& settings) {
  SolverOptions options{.overlap = settings.overlap, .steps_per_exchange = settings.steps_per_exchange};
  if (settings.standard.transport != "auto") options.transport = parse_transport(settings.standard.transport);
  if (settings.standard.initiation != "auto")
    options.initiation = parse_initiation(settings.standard.initiation);
  return options;
}

}  // namespace selvage::jacobi
