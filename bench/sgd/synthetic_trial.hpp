#pragma once

#include "../support/records.hpp"
#include "sgd/settings.hpp"

#include <selvage/comm/context.hpp>

namespace selvage::bench {

/// Adds up gradients of ResNet-50's sizes over all ranks, without any arithmetic beside it: every sum of two steps is
/// verified, then steps are timed in which all gradients are ready at once. Collective.
/// \throws Error{verification}
[[nodiscard]] Record time_synthetic(const Context& context, const sgd::Settings& settings);

}  // namespace selvage::bench
