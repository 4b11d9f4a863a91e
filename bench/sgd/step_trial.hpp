#pragma once

#include "../support/figure.hpp"
#include "sgd/cli/settings.hpp"

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

/// Steps of trainings on made-up samples, which are the same on any host, in turns: as sgd does it without options, with ordered
/// sums; with fast sums, as all that follow; with other options; and of each rank alone, with its own part of the batch. All ranks
/// must have the same parameters, every tensor must have moved, and the loss must have fallen. In each round the events of one
/// more step, which isn't captured, tell how long buckets travel, and how much of that backward hides. Collective.
/// \param given  with fast sums
[[nodiscard]] Figure step_figure(const Context& context, const StepCase& given);

}  // namespace selvage::bench
