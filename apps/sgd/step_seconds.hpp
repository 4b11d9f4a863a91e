#pragma once

#include "sgd/settings.hpp"
#include "sgd/trainer.hpp"

#include <selvage/comm/context.hpp>

#include <mpi.h>

namespace selvage::sgd {

/// Seconds of a step, of the slowest rank: the mean of some that are enqueued one after the other. Collective.
[[nodiscard]] double seconds_of_steps(MPI_Comm comm, const Space& space, Trainer& trainer, int steps);

struct StepSeconds {
  double together;  ///< of all ranks
  double alone;     ///< of each rank by itself, with its own part of the batch
  /// Of a step, what is due to other ranks.
  [[nodiscard]] double share_blocked() const { return together > alone ? (together - alone) / together : 0; }
};

/// Times a training like the given one on samples of zeros, so that no other is touched. Takes the memory of such a
/// training while it lasts. Collective.
/// \param data  of the training's samples
[[nodiscard]] StepSeconds time_steps(const Context& context, Settings settings,
                                     const SampleSource::Shape& data);

}  // namespace selvage::sgd
