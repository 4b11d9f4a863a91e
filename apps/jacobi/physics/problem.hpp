#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace selvage::jacobi {

/// The cases. Cells are unknowns: the boundary lies in the ghosts around them.
enum class Case {
  dirichlet,  ///< one sine mode, solved from zero; what happens in each sweep is known exactly (theory.hpp)
  public_sample,  ///< NVIDIA's public multi-GPU Jacobi sample: no source, sines on two sides, periodic in y
};

[[nodiscard]] std::string_view to_string(Case name);

/// A case on a grid: what it starts from, its boundary and its source. Axes are those of a View, slowest
/// first.
template <int D>
struct Problem {
  Case name = Case::dirichlet;
  std::array<std::int64_t, D> cells{};
  std::array<bool, D> periodic{};
  double amplitude = 1;  ///< of the exact solution; only `dirichlet` has one

  [[nodiscard]] bool has_source() const { return name == Case::dirichlet; }

  /// The value before the first sweep in a cell, or for good where it lies outside of the grid. Cells beyond
  /// a periodic side stand for those at the other end.
  [[nodiscard]] double initial_value(std::array<std::int64_t, D> cell) const;

  /// Case `dirichlet`: the mode's factor for one axis in cells [begin, end), which may reach over the sides.
  [[nodiscard]] std::vector<double> mode(int axis, std::int64_t begin, std::int64_t end) const;
};

/// The 2-norms that the public sample is known to give, by its own counting of iterations.
/// \return NaN where none is known
[[nodiscard]] double public_sample_norm(std::int64_t n, bool is_fp64, std::int64_t iteration);

extern template struct Problem<2>;
extern template struct Problem<3>;

}  // namespace selvage::jacobi
