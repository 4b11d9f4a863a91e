#pragma once

#include "../support/figure.hpp"
#include "sgd/cli/settings.hpp"

#include <selvage/comm/context.hpp>

namespace selvage::bench {

/// Adds up gradients of ResNet-50's sizes over all ranks, without any arithmetic beside it: all of a step are ready at once.
/// By ordered sums, which are the program's default, and by fast ones. Every sum of a step is verified. Collective.
/// \param settings  with fast sums
[[nodiscard]] Figure synthetic_figure(const Context& context, const sgd::Settings& settings);

}  // namespace selvage::bench
