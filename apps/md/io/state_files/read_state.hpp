#pragma once

#include "md/io/state.hpp"

#include <string>

namespace selvage::md {

/// What a state file holds.
struct StateFile {
  State state;  ///< step 0; at rest where the file has no velocities
  bool has_velocities;
};

/// Reads an H5MD file (.h5, .h5md) or a LAMMPS data file (any other name). Not collective.
/// \throws Error{input} that names the file, and in a data file the line
[[nodiscard]] StateFile read_state(const std::string& path);

}  // namespace selvage::md
