#pragma once

#include "common/input.hpp"
#include "common/standard_options.hpp"
#include "md/engine_options.hpp"
#include "md/physics/lattice.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace selvage::md {

enum class Precision {
  fp32,
  mixed,  ///< pairs in fp32, all else in fp64
  fp64
};
[[nodiscard]] std::string_view to_string(Precision precision);
[[nodiscard]] std::string_view to_string(ListKind kind);

/// Every input value, checked as far as it can be without the atoms.
struct Settings {
  app::StandardOptions standard;
  std::optional<std::string> state_path;  ///< atoms come from this file, or from the lattice
  std::array<std::int64_t, 3> cells;      ///< of the lattice, along x, y, z
  bool names_cells;                       ///< the input does
  double density;
  std::optional<Droplet> droplet;     ///< what is kept of the lattice; nothing: all
  std::optional<double> temperature;  ///< of the velocities that are drawn; nothing: the file's are taken
  std::int32_t seed;
  EngineOptions engine;
  Precision precision;
  bool chooses_list;  ///< the program chose full or half, for its backend
  bool breakdown;
  std::int64_t thermo_every;
  std::int64_t trajectory_every;  ///< 0: never
  std::int64_t restart_every;     ///< 0: never
};

/// Reads all keys and refuses unknown ones; the keys are listed in apps/md/README.md. Not collective.
/// \throws Error{input} with file, line, key and value
[[nodiscard]] Settings read_settings(app::Input& input);

}  // namespace selvage::md
