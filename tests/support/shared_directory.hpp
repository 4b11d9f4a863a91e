#pragma once

#include <mpi.h>
#include <stdlib.h>

#include <array>
#include <filesystem>
#include <string>

namespace selvage::app::testing_support {

/// A directory that rank 0 makes and removes, and all ranks use. Collective.
class SharedDirectory {
 public:
  SharedDirectory() {
    std::array<char, 256> name = {};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    if (rank_ == 0) {
      const auto pattern = (std::filesystem::temp_directory_path() / "selvage-test-XXXXXX").string();
      pattern.copy(name.data(), name.size() - 1);
      if (mkdtemp(name.data()) == nullptr) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    path_ = name.data();
  }
  ~SharedDirectory() {
    MPI_Barrier(MPI_COMM_WORLD);
    std::error_code ignored;
    if (rank_ == 0) std::filesystem::remove_all(path_, ignored);
  }
  SharedDirectory(const SharedDirectory&) = delete;
  SharedDirectory& operator=(const SharedDirectory&) = delete;

  [[nodiscard]] std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
  int rank_ = 0;
};

}  // namespace selvage::app::testing_support
