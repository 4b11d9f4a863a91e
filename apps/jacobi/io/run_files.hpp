#pragma once

#include "common/csv.hpp"
#include "common/output.hpp"
#include "jacobi/cli/settings.hpp"

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace selvage::jacobi {

/// One row of norms.csv: the state after `step` sweeps. NaN where a case has no such figure.
struct NormRow {
  std::int64_t step;
  double residual;         ///< 2-norm of what the next sweep changes
  double residual_theory;  ///< what it should be
  double error;            ///< of the discrete solution's mode, relative to the start
  double theory;           ///< lambda^step, what it should be
  double error_exact;      ///< largest difference from the exact solution of the differential equation
};

/// The files that a run leaves in its output directory: norms.csv, fields_*.h5 with fields.xdmf,
/// restart_*.h5.
class RunFiles {
 public:
  /// Makes the directory. Collective.
  /// \param restarted_at  the step that this run continues from; earlier rows and snapshots of it are kept
  /// \throws AgreedError{io}, on rank 0 Error{io} or Error{input} for its norms.csv
  RunFiles(MPI_Comm comm, const Settings& settings, std::optional<std::int64_t> restarted_at);

  /// Rank 0 writes; does nothing on the others.
  void append(const NormRow& row);

  /// Writes this rank's cells as part of one snapshot. Collective. \throws AgreedError{io}
  /// \param u  type and extent of the whole field, this rank's box and values
  void write_fields(std::int64_t step, const app::ArrayBlock& u);
  /// Writes what --restart reads. Collective. \throws AgreedError{io}
  void write_restart(std::int64_t step, const app::ArrayBlock& u);

  [[nodiscard]] const std::string& dir() const { return dir_; }

 private:
  MPI_Comm comm_;
  std::string dir_;
  app::Attributes description_;
  app::FieldSeries fields_;
  std::unique_ptr<app::CsvHistory> norms_;  ///< on rank 0
};

/// A restart file that was found to fit the settings.
class Restart {
 public:
  /// Opens it and compares it with `settings`. Not collective.
  /// \throws Error{input} that names the file and the first difference: another case, size, type, stencil ...
  Restart(const std::string& path, const Settings& settings);

  [[nodiscard]] std::int64_t step() const { return step_; }

  /// Reads one rank's cells, whatever ranks wrote them. Not collective.
  /// \throws Error{input} for a truncated file, and for a value that is NaN or infinite
  template <class Real>
  [[nodiscard]] std::vector<Real> read(const app::ArrayBox& box) const;

 private:
  std::string path_;
  app::Hdf5Reader file_;
  std::int64_t step_ = 0;
};

}  // namespace selvage::jacobi
