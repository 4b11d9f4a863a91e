#pragma once

#include "common/hdf5_file.hpp"
#include "common/xdmf.hpp"

#include <selvage/atomic_file.hpp>

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace selvage::app {

/// Makes the directory and its parents. Collective.
/// \returns `path`
/// \throws AgreedError{io} with the path and the system's reason; also when it can't be written to
std::string make_output_directory(MPI_Comm comm, const std::string& path);

/// The steps before one of which there are files DIR/STEM_00000100.h5, in order; none where there is no such directory. Not
/// collective.
[[nodiscard]] std::vector<std::int64_t> earlier_steps(const std::string& dir, const std::string& stem,
                                                      std::int64_t first_new_step);

/// Fields over time: DIR/STEM_00000100.h5 per snapshot, and DIR/STEM.xdmf, a time series that ParaView opens.
class FieldSeries {
 public:
  /// Collective only in that all ranks make one with the same arguments.
  /// \param first_new_step  after a restart, the first step that this run may write: the series keeps earlier
  ///                        snapshots found in `dir` and forgets the others. Without it the series starts
  ///                        empty.
  FieldSeries(MPI_Comm comm, std::string dir, std::string stem, UniformMesh mesh,
              std::optional<std::int64_t> first_new_step = std::nullopt);

  /// Writes one snapshot, and the series that includes it. Every array has the mesh's extents. Adds the
  /// attributes "step" and "time". Collective.
  /// \throws AgreedError{io}
  void write(std::int64_t step, double time, std::span<const ArrayBlock> arrays, Attributes attributes = {},
             WriteMode mode = WriteMode::automatic);

  /// The file of one step.
  [[nodiscard]] std::string path_of(std::int64_t step) const;
  [[nodiscard]] std::string xdmf_path() const;

 private:
  void find_earlier(std::int64_t first_new_step);

  MPI_Comm comm_;
  std::string dir_;
  std::string stem_;
  UniformMesh mesh_;
  std::vector<XdmfSnapshot> snapshots_;
};

}  // namespace selvage::app
