#pragma once

#include <mpi.h>

#include <string>

namespace selvage::profile {

/// Where this job's profile goes, an absolute path: SELVAGE_PROFILE_FILE, or selvage-profile-<id>.h5 with the batch
/// system's job id or else rank 0's process id. As rank 0 sees it; collective.
[[nodiscard]] std::string agree_on_output(MPI_Comm comm);

/// What the names of the ranks' parts start with: the output's own path, its name in the folder that
/// SELVAGE_PROFILE_PARTS names, or nothing at all ("off").
[[nodiscard]] std::string parts_beside(const std::string& output);

}  // namespace selvage::profile
