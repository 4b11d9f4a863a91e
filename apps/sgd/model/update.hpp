#pragma once

#include "sgd/model/space.hpp"
#include "sgd/sums/fixed_point.hpp"

#include <cstdint>

namespace selvage::sgd {

/// Momentum SGD of one parameter: v = momentum v + gradient + decay w, w = w - rate v.
struct Optimizer {
  Vector<float> parameters;
  Vector<float> velocities;
  Vector<float> rate;  ///< of the step, one element
  std::int64_t batch;  ///< samples that a sum is over
  float momentum;
  float decay;

  KOKKOS_INLINE_FUNCTION void move(std::int64_t i, float mean_gradient) const {
    const float weight = parameters(i);
    const float velocity = momentum * velocities(i) + (mean_gradient + decay * weight);
    velocities(i) = velocity;
    parameters(i) = weight - rate(0) * velocity;
  }
};

/// Moves all parameters by the sums of gradients that GradientSum gives, in fixed point. Enqueues it.
void update(const Space& space, const Optimizer& optimizer, const Vector<std::int64_t>& sums);
/// The same by real ones.
void update(const Space& space, const Optimizer& optimizer, const Vector<float>& sums);

}  // namespace selvage::sgd
