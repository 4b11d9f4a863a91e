#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace selvage::sgd {

/// How fast weights follow the gradients: a linear warm-up, then half a cosine down to zero at the last step.
///
/// Source: Goyal et al., Accurate, Large Minibatch SGD (2017), section 2.2; Loshchilov and Hutter, SGDR (ICLR 2017),
/// without its restarts.
struct Schedule {
  double peak;
  std::int64_t warmup_steps;
  std::int64_t steps;  ///< of the whole training

  /// \param step  from 0
  [[nodiscard]] double rate(std::int64_t step) const {
    if (step < warmup_steps) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup_steps);
    if (steps <= warmup_steps) return peak;
    const double share = static_cast<double>(step - warmup_steps) / static_cast<double>(steps - warmup_steps);
    return peak * 0.5 * (1 + std::cos(std::numbers::pi * share));
  }
};

}  // namespace selvage::sgd
