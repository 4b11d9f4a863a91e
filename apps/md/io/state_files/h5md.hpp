#pragma once

#include "common/hdf5_file.hpp"
#include "common/xdmf.hpp"
#include "md/io/state_files/read_state.hpp"

#include <mpi.h>

#include <memory>
#include <string>

namespace selvage::md {

/// Writes a state as an H5MD 1.1 file of one frame, group particles/all: position, velocity, image, id and a periodic box,
/// each with step and time. H5MD has no word for a box that doesn't start at 0, so its sides are also attributes of the
/// root group, selvage_lower_x and so on. Collective.
/// \param state  shared with what goes on writing where this is given up: see app::write_hdf5()
/// \param time  in tau
/// \param description  more attributes of the root group
/// \return how many atoms all ranks have together
/// \throws AgreedError{io}
std::int64_t write_h5md(MPI_Comm comm, const std::string& path, const std::shared_ptr<const State>& state,
                        double time, const app::Attributes& description);

/// What files of write_h5md() hold, for tools that read XDMF. \param atoms  of all ranks
[[nodiscard]] app::PointCloud h5md_cloud(std::int64_t atoms);

/// Reads the last frame of the group particles/all, or of the only other one, step included. Numbers may be of any type and
/// order of bytes; without ids, atoms are counted from 1; images and velocities may be missing. The box has to be orthogonal
/// and periodic. Not collective.
/// \throws Error{input}
[[nodiscard]] StateFile read_h5md(const std::string& path);

}  // namespace selvage::md
