#pragma once

#include "../support/records.hpp"
#include "sgd/settings.hpp"

#include <selvage/comm/context.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace selvage::bench {

/// A model and how much of it is trained.
struct StepCase {
  std::string model;  ///< as in the records' names
  sgd::Settings settings{};
  int features = 0;
  int classes = 0;
  std::int64_t batch_of_rank = 0;
  std::int64_t steps_per_epoch = 0;
  /// Measured as well: how many of a GPU sums may take.
  std::vector<int> other_multiprocessors = {};
};

/// Trains on made-up samples, which are the same on any host.
///
/// First all ranks must end with the same parameters, every tensor must have moved, and the loss must have fallen. Then 10 times 10 steps are timed, of
/// the slowest rank, and as many of each rank alone, without communication; and the events of steps that aren't captured
/// tell how long buckets travel and how much of it backward hides. Collective.
/// \throws Error{verification}
[[nodiscard]] Record time_steps(const Context& context, const StepCase& given);

}  // namespace selvage::bench
