#pragma once

#include "sgd/data_order.hpp"
#include "sgd/space.hpp"
#include "sgd/step_figures.hpp"

namespace selvage::sgd {

/// The cross-entropy of a softmax, and its derivatives. Enqueues it.
/// \param logits   samples x classes
/// \param labels   by sample
/// \param errors   the derivatives of a sample's loss by its logits, overwritten
/// \param figures  given the losses, and how many samples are recognised: those whose label's logit is the largest, the
///                 first of several; then the step is over
void cross_entropy(const Space& space, SampleRange range, const Matrix<float>& logits,
                   const Vector<int>& labels, const Matrix<float>& errors, const StepFigures& figures);

}  // namespace selvage::sgd
