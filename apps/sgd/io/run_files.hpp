#pragma once

#include "common/csv.hpp"
#include "sgd/cli/settings.hpp"
#include "sgd/trainer.hpp"

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace selvage::sgd {

/// The files that a run leaves in its output directory: steps.csv and epochs.csv, checkpoint_STEP.h5 and
/// weights.h5.
class RunFiles {
 public:
  /// Makes the directory. Collective.
  /// \param resumed_at  the step that this run continues from; earlier rows are kept
  /// \throws AgreedError{io}, on rank 0 Error{io} or Error{input} for its tables
  RunFiles(MPI_Comm comm, std::string dir, std::optional<std::int64_t> resumed_at);

  /// Rank 0 writes; do nothing on the others. \param step  counted from 1
  void append_step(std::int64_t step, const Trainer::Step& train, double rate);
  void append_epoch(std::int64_t step, const Trainer::Step& test);

  /// Collective. \throws AgreedError{io}, and AgreedError{numeric} for NaN or infinity in what it would hold; an earlier
  ///             file of the name is then still there
  void write_checkpoint(const Trainer& trainer, const Settings& settings) const;

  /// The weights as they are, each tensor an array of its name and shape, for other programs and for begin_with_weights().
  /// Collective. \throws as write_checkpoint()
  void write_weights(const Trainer& trainer) const;

  [[nodiscard]] const std::string& dir() const { return dir_; }

 private:
  MPI_Comm comm_;
  std::string dir_;
  std::unique_ptr<app::CsvHistory> steps_;   ///< on rank 0
  std::unique_ptr<app::CsvHistory> epochs_;  ///< on rank 0
};

/// Goes on where a checkpoint was written, to the same bits as without a stop, on any number of ranks with ordered sums.
/// Not collective.
/// \throws Error{input} that names the file and the first difference of model, data or training
void resume(Trainer& trainer, const std::string& path, const Settings& settings);

/// Begins with a file's weights in place of those that the seed draws. Whoever wrote the file: its attributes aren't looked at.
/// Not collective.
/// \throws Error{input} that names the file, and the first tensor that is absent, of another shape or type, not finite, or
///         not of this model
void begin_with_weights(Trainer& trainer, const std::string& path);

}  // namespace selvage::sgd
