#include "job_output.hpp"

#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace selvage::profile {
namespace {

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::string job_id() {
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"}) {
    if (!environment(name).empty()) return std::string(environment(name));
  }
  return std::to_string(getpid());
}

std::string own_output() {
  std::string path(environment("SELVAGE_PROFILE_FILE"));
  if (path.empty()) path = "selvage-profile-" + job_id() + ".h5";
  // Ranks that the program spawns are a job of their own, with the environment of their parents.
  MPI_Comm parent = MPI_COMM_NULL;
  PMPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) path += ".spawned-" + std::to_string(getpid());
  // The program may change its folder before the end.
  std::error_code ignored;
  const auto absolute = std::filesystem::absolute(path, ignored);
  return absolute.empty() ? path : absolute.string();
}

}  // namespace

std::string agree_on_output(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  std::string path(PATH_MAX, '\0');
  if (rank == 0) path = own_output();
  path.resize(PATH_MAX);
  PMPI_Bcast(path.data(), PATH_MAX, MPI_CHAR, 0, comm);
  path.resize(path.find('\0') == std::string::npos ? PATH_MAX : path.find('\0'));
  return path;
}

std::string parts_beside(const std::string& output) {
  const std::string_view folder = environment("SELVAGE_PROFILE_PARTS");
  if (folder == "off") return {};
  if (folder.empty()) return output;
  return (std::filesystem::path(folder) / std::filesystem::path(output).filename()).string();
}

}  // namespace selvage::profile
