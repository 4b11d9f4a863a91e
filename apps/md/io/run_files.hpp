#pragma once

#include "common/csv.hpp"
#include "common/xdmf.hpp"
#include "md/cli/settings.hpp"
#include "md/io/state.hpp"
#include "md/physics/thermo.hpp"

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace selvage::md {

/// The thermo table's head and one row of it, in LAMMPS's columns: Step Temp E_pair E_mol TotEng Press.
[[nodiscard]] std::string thermo_header();
[[nodiscard]] std::string thermo_line(const ThermoRow& row);

/// The files that a run leaves in its output directory: thermo.csv, trajectory_STEP.h5 and restart_STEP.h5 in
/// H5MD, and trajectory.xdmf, a time series of the trajectory that ParaView opens.
class RunFiles {
 public:
  /// Makes the directory. Collective.
  /// \param restarted_at  the step that this run continues from; rows up to it are kept
  /// \throws AgreedError{io}, on rank 0 Error{io} or Error{input} for its thermo.csv
  RunFiles(MPI_Comm comm, const Settings& settings, std::optional<std::int64_t> restarted_at);

  /// Rank 0 writes; does nothing on the others.
  void append(const ThermoRow& row);
  /// Each collective. \throws AgreedError{io}
  void write_trajectory(const std::shared_ptr<const State>& state);
  void write_restart(const std::shared_ptr<const State>& state) const;

  [[nodiscard]] const std::string& dir() const { return dir_; }

 private:
  MPI_Comm comm_;
  std::string dir_;
  Settings settings_;
  std::unique_ptr<app::CsvHistory> thermo_;  ///< on rank 0
  std::vector<app::XdmfSnapshot> frames_;    ///< of the trajectory
};

/// Reads what a restart file holds, whose run must have had the same physics. Not collective.
/// \throws Error{input} that names the file and the first difference
[[nodiscard]] State read_restart(const std::string& path, const Settings& settings);

}  // namespace selvage::md
