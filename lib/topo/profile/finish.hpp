#pragma once

#include "part.hpp"

#include <mpi.h>

#include <string>

namespace selvage::profile {

/// Gathers all ranks' counters on rank 0, which writes the file, and removes this rank's part. Collective; prints one
/// line if it fails and otherwise nothing.
void write_profile(const std::string& output, const Part& part, MPI_Comm comm);

/// Makes the file from the parts that this rank can see, for a job that is about to be aborted. Local.
void write_unfinished_profile(const std::string& parts_of, const std::string& output);

}  // namespace selvage::profile
