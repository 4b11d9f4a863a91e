#pragma once

#include "sgd/io/data_order.hpp"
#include "sgd/model/space.hpp"
#include "sgd/step_figures.hpp"

namespace selvage::sgd {

/// What a loss is of.
struct Outcome {
  Matrix<float> logits;  ///< samples x classes, without the bias
  const float* bias;     ///< by class
  Vector<int> labels;    ///< by sample
  Matrix<float> errors;  ///< the derivatives of a sample's loss by its logits, overwritten
  int layer;             ///< that made the logits, marked where one is NaN or infinite
};

/// The cross-entropy of a softmax, and its derivatives. Enqueues it.
/// \param figures  given the losses, and how many samples are recognised: those whose label's logit is the largest, the
///                 first of several; then the step is over
void cross_entropy(const Space& space, SampleRange range, const Outcome& outcome, const StepFigures& figures);

}  // namespace selvage::sgd
