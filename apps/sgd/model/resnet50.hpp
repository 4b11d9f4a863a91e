#pragma once

#include "sgd/model/model.hpp"

#include <vector>

namespace selvage::sgd {

/// The 161 tensors of ResNet-50 for 1000 classes, in the order of the model: 25 557 032 parameters.
///
/// Source: He et al., Deep Residual Learning for Image Recognition (CVPR 2016), table 1; a convolution has no bias, and a
/// normalisation's scale and shift follow it.
[[nodiscard]] std::vector<Tensor> resnet50_tensors();

}  // namespace selvage::sgd
