#pragma once

#include "common/input.hpp"
#include "common/standard_options.hpp"
#include "jacobi/physics/problem.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace selvage::jacobi {

enum class Precision { fp32, fp64 };
[[nodiscard]] std::string_view to_string(Precision precision);

enum class Overlap {
  off,     ///< exchange, then sweep
  host,    ///< the interior is swept while the ghosts travel, the edges after they came
  kernel,  ///< one kernel sweeps the edges first and sends them from inside, while it sweeps the interior
};
[[nodiscard]] std::string_view to_string(Overlap overlap);

enum class Persistence {
  off,
  on,        ///< refused with the reason where it isn't possible
  automatic  ///< where it is possible
};

/// Every input value, checked as far as one rank can by itself. Axes are those of a View, slowest first.
struct Settings {
  app::StandardOptions standard;
  Case name;
  double amplitude;
  std::vector<std::int64_t> cells;  ///< 2 or 3 axes
  std::vector<bool> periodic;
  Precision precision;
  int stencil_points;
  std::int64_t norm_every;  ///< 0: at the end only
  double tolerance;         ///< stops at a residual at or below; 0 never does
  Overlap overlap;
  bool chooses_overlap;  ///< the program chose it, for its backend
  int steps_per_exchange;
  Persistence persistent;  ///< iterate in one kernel
  bool compare_serial;
  bool breakdown;
  bool write_fields;
  std::int64_t fields_every;   ///< 0: the last step only
  std::int64_t restart_every;  ///< 0: never

  [[nodiscard]] int dimensions() const { return static_cast<int>(cells.size()); }
};

/// Reads all keys and refuses unknown ones; the keys are listed in apps/jacobi/README.md. Not collective.
/// \throws Error{input} with file, line, key and value
[[nodiscard]] Settings read_settings(app::Input& input);

}  // namespace selvage::jacobi
