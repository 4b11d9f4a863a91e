#pragma once

#include "sgd/fixed_point.hpp"
#include "sgd/space.hpp"
#include "sgd/step_figures.hpp"

#include <cstdint>

namespace selvage::sgd {

/// Momentum SGD of one parameter: v = momentum v + gradient + decay w, w = w - rate v.
struct Optimizer {
  Vector<float> parameters;
  Vector<float> velocities;
  Vector<float> rates;  ///< by step of the epoch
  StepFigures figures;
  std::int64_t batch;  ///< samples that a sum is over
  float momentum;
  float decay;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION float rate() const {
    return rates(figures.current() % rates.extent_int(0));
  }
  KOKKOS_INLINE_FUNCTION void move(std::int64_t i, float mean_gradient, float rate) const {
    const float weight = parameters(i);
    const float velocity = momentum * velocities(i) + (mean_gradient + decay * weight);
    velocities(i) = velocity;
    parameters(i) = weight - rate * velocity;
  }
};

/// Moves all parameters by the sums of gradients that GradientSum gives, in fixed point. Enqueues it.
void update(const Space& space, const Optimizer& optimizer, const Vector<std::int64_t>& sums);
/// The same by real ones.
void update(const Space& space, const Optimizer& optimizer, const Vector<float>& sums);

}  // namespace selvage::sgd
