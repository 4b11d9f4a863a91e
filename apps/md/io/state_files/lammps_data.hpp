#pragma once

#include "md/io/state_files/read_state.hpp"

#include <istream>
#include <string>

namespace selvage::md {

/// Reads what LAMMPS's `write_data` writes of atom style `atomic`: one type of mass 1, an orthogonal box, image
/// flags or none, velocities or none. Sections with pair coefficients are passed over, because the input file says
/// them.
/// \throws Error{input} "FILE:LINE: ..." for anything else, and for a file that ends early
[[nodiscard]] StateFile read_lammps_data(const std::string& path);
/// \param name  what messages cite
[[nodiscard]] StateFile read_lammps_data(std::istream& text, const std::string& name);

}  // namespace selvage::md
