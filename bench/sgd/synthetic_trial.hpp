#pragma once

#include "../support/figure.hpp"
#include "sgd/settings.hpp"

#include <selvage/comm/context.hpp>

namespace selvage::bench {

/// Adds up gradients of ResNet-50's sizes over all ranks, without any arithmetic beside it: all of a step are ready at once.
/// Every sum of a step is verified. Collective.
[[nodiscard]] Figure synthetic_figure(const Context& context, const sgd::Settings& settings);

}  // namespace selvage::bench
