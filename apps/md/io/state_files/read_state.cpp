#include "md/io/state_files/read_state.hpp"

#include "md/io/state_files/h5md.hpp"
#include "md/io/state_files/lammps_data.hpp"

#include <filesystem>

namespace selvage::md {

StateFile read_state(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  const bool is_h5md = extension == ".h5" || extension == ".h5md";
  StateFile file = is_h5md ? read_h5md(path) : read_lammps_data(path);
  file.state.step = 0;
  check_state(file.state, path.c_str());
  return file;
}

}  // namespace selvage::md
